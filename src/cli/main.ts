#!/usr/bin/env node
import module from 'node:module';
import { holdSignals } from './early-signals.ts';

holdSignals();

// Node 22 and later keep compiled code between runs; Node 20 has no such function.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown };
enableCompileCache?.();

const { start } = await import('./start.ts');
await start(process.argv.slice(2));
