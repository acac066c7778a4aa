import process from 'node:process';
import { runStep } from './step.ts';

process.exit(await runStep(process.env, process.cwd()));
