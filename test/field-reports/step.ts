import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { bundleOptions } from '../../scripts/bundle-options.mjs';
import { readOutputs } from '../helpers/step-files.ts';
import { checkGeneralRules } from './general-rules.ts';
import { runOf } from './harness.ts';
import { KEY, placeOf } from './place.ts';
import type { FieldRun } from './harness.ts';
import type { Case } from './place.ts';

export interface StepCase extends Case {
  inputs?: Record<string, string>;
  /** The case destroys the run folder, so the general rules find no result to check. */
  loses_result?: boolean;
  /** What already stands in the step summary. */
  summary?: string;
}

export interface StepRun extends FieldRun {
  outputs: Record<string, string>;
  summary: string;
  /** Lines of both streams that the runner would act on. */
  commands: string[];
}

/** Bundles the action once for a test file; the function runs one step of it as the runner does. */
export function useStep(): (given: StepCase) => Promise<StepRun> {
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'agent-run-action-'));
    const entryPoints = { action: 'src/action/main.ts' };
    await build({ ...bundleOptions, entryPoints, outdir: join(folder, 'dist') });
  }, 30_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (given) => runStep(join(folder, 'dist/action.mjs'), given);
}

async function runStep(entry: string, given: StepCase): Promise<StepRun> {
  const place = await placeOf(given);
  const output = join(place.folder, 'step-output');
  const summary = join(place.folder, 'step-summary');
  writeFileSync(output, '');
  writeFileSync(summary, given.summary ?? '');
  const { ANTHROPIC_API_KEY: _key, ...env } = place.env;
  const inputs = { task: 'task.json', workspace: 'workspace', out: 'out', 'anthropic-api-key': KEY, ...given.inputs };
  const child = spawn(process.execPath, [entry], {
    cwd: place.folder,
    env: {
      ...env,
      GITHUB_ACTIONS: 'true',
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      RUNNER_TEMP: place.folder,
      ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
    },
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const run = runOf(place, { code, ...text, ended_at: Date.now() }, 0);
  const { stdout } = run;
  // The masks of secrets are the one place where the runner must be told them; what is printed is no result.
  const shown = stdout.split('\n').filter((line) => !line.startsWith('::add-mask::'));
  if (!given.loses_result) checkGeneralRules({ ...run, argv: ['--format'], stdout: shown.join('\n') });
  const commands = `${stdout}\n${run.stderr}`.split(/\r\n|\r|\n/).filter((line) => /^\s*::|##\w*\[/.test(line));
  const files = { outputs: readOutputs(readFileSync(output, 'utf8')), summary: readFileSync(summary, 'utf8') };
  return { ...run, ...files, commands };
}
