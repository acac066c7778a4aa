// What local-action calls: it wants a function named run, and stays alive after it.
import process from 'node:process';
import { runStep } from '../../src/action/step.ts';

export async function run(): Promise<void> {
  process.exitCode = await runStep(process.env, process.cwd());
}
