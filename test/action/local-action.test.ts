import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ROOT } from '../helpers/pages.ts';
import { setUpStep, type StepSetup } from '../helpers/runner.ts';
import { readOutputs } from '../helpers/step-files.ts';
import { submit } from '../helpers/step.ts';

vi.setConfig({ testTimeout: 120_000 });

const TOOLS = join(ROOT, 'tools/local-action/node_modules');
const WHY = 'needs tools/local-action, which npm run test:local-action installs';

/** One run through GitHub's local-action: it reads action.yml, loads the TypeScript and stands in for @actions/core. */
function runLocally(setup: StepSetup) {
  const { folder, checkout, env } = setUpStep(setup);
  const index = join(TOOLS, '@github/local-action/src/index.ts');
  // Its own command line starts the same by `npm exec`, which looks for tsx in our packages.
  const args = [join(TOOLS, 'tsx/dist/cli.mjs'), index, ROOT, 'tools/local-action/entry.ts', join(folder, 'files/env')];
  const inputs = { INPUT_TASK: join(checkout, 'task.json'), INPUT_WORKSPACE: checkout };
  const all = { ...env, ...inputs, TARGET_ACTION_PATH: ROOT, NODE_PACKAGE_MANAGER: 'npm' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env: all, encoding: 'utf8' });
  const outputs = readOutputs(readFileSync(join(folder, 'files/output'), 'utf8'));
  return { status, log: `${stdout}${stderr}`, outputs, summary: readFileSync(join(folder, 'files/summary'), 'utf8') };
}

test('local-action runs a step to its outputs and its summary', ({ skip }) => {
  skip(!existsSync(TOOLS), WHY);
  const { status, log, outputs, summary } = runLocally({ turns: [{ text: 'Hello from local-action.' }] });
  expect(status, log).toBe(0);
  expect(outputs).toMatchObject({ status: 'success', output: 'Hello from local-action.', 'exit-code': '0' });
  expect(summary).toMatch(/^\*\*task: success\*\*/);
});

test('local-action shows the error of a step whose gate says no, and its code', ({ skip }) => {
  skip(!existsSync(TOOLS), WHY);
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
  const { status, log, outputs } = runLocally({
    task: { output: { schema, gate: { properties: { ok: { const: true } } } } },
    turns: [submit({ ok: false })],
  });
  expect(status).toBe(9);
  expect(outputs).toMatchObject({ 'exit-reason': 'gate_failed', output: '{"ok":false}' });
  expect(log).toContain('the output is valid and the gate says no');
});
