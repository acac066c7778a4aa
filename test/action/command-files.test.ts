// The files by which a step tells the runner something, and who else might.
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { ROOT } from '../helpers/pages.ts';
import { postStep, setUpStep, startStage, type StepSetup } from '../helpers/runner.ts';
import { OUTPUT_NAMES } from '../../src/action/outputs.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const MAIN = join(ROOT, 'action/main.mjs');
const PROBE = `env > seen.txt
for file in "$GITHUB_ENV" "$GITHUB_PATH" "$GITHUB_OUTPUT" "$GITHUB_STATE" ../files/env ../files/output; do
  echo STOLEN=1 >> "$file"
done 2>/dev/null
true
`;

async function run(setup: StepSetup) {
  const step = setUpStep(setup);
  const end = await startStage(step, MAIN).done;
  const file = (name: string): string => readFileSync(join(step.folder, name), 'utf8');
  return { ...end, step, file };
}

const probing = (sandbox: object): StepSetup => ({
  task: { tools: { bash: { allow: ['sh probe.sh'] } }, sandbox },
  turns: [{ tool_use: [{ name: 'bash', input: { command: 'sh probe.sh' } }] }, { text: 'done' }],
  files: { 'probe.sh': PROBE },
});

describe('the command files', () => {
  test.each([[{ mode: 'off' }], [{ mode: 'auto' }]])('are named to no tool, with sandbox %j', async (sandbox) => {
    const { status, log, file } = await run(probing(sandbox));
    expect(status, log).toBe(0);
    expect(file('checkout/seen.txt')).not.toMatch(/GITHUB_|RUNNER_|INPUT_|ACTIONS_/);
    expect(file('files/path')).toBe('');
  });

  test('are out of a sandbox, wherever they lie', async ({ skip }) => {
    const { log, file, outputs } = await run(probing({ mode: 'auto' }));
    skip(!log.includes('sandbox: bubblewrap'), 'needs bubblewrap');
    expect([file('files/env'), file('files/path')]).toEqual(['', '']);
    expect(Object.keys(outputs).sort()).toEqual([...OUTPUT_NAMES].sort());
  });

  test('hold our own names only, whatever the inputs and the model say', async () => {
    const hostile = 'a\r\nstatus=success\nx<<EOF\n::set-env name=PATH::/evil\nEOF\n%0A::add-path::/evil';
    const { status, outputs, file, step } = await run({
      task: { inputs: { title: {} }, prompt: 'Title: {{ inputs.title }}' },
      turns: [{ text: hostile }],
      inputs: { inputs: JSON.stringify({ title: hostile }), 'fail-on': 'error' },
    });
    expect(status).toBe(0);
    expect(Object.keys(outputs).sort()).toEqual([...OUTPUT_NAMES].sort());
    expect(outputs['output']).toBe(hostile);
    expect([file('files/env'), file('files/path')]).toEqual(['', '']);
    const saved = Object.keys(postStep(step).env).filter((name) => name.startsWith('STATE_'));
    expect(saved.sort()).toEqual(['STATE_ended', 'STATE_run']);
  });
});

/** A server that takes connections and says nothing. */
async function silence(): Promise<{ url: string; reached: Promise<void>; left: Promise<void> }> {
  let server: Server | undefined;
  const sockets: Socket[] = [];
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => (leave = resolve));
  const reached = new Promise<void>((resolve) => {
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('close', leave).on('error', leave).resume();
      resolve();
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server?.close();
  });
  const address = server?.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/r.git`, reached, left };
}

test('a signal while the task is still being fetched ends the step at once, as cancelled', async () => {
  const { url, reached, left } = await silence();
  const repository = gitRepo({ 'task.json': '{}' });
  repository.git('remote', 'add', 'origin', url);
  const repo = { full_name: 'o/r' };
  const event = { pull_request: { head: { sha: 'a'.repeat(40), repo }, base: { sha: 'b'.repeat(40), repo } } };
  const step = setUpStep({
    files: { 'event.json': JSON.stringify(event) },
    env: { GITHUB_EVENT_NAME: 'pull_request' },
  });
  const env = { ...step.env, GITHUB_EVENT_PATH: join(step.checkout, 'event.json') };
  const stage = startStage({ ...step, checkout: repository.root, env }, MAIN);
  await reached;
  const at = performance.now();
  stage.child.kill('SIGINT');
  const { status, outputs, log } = await stage.done;
  expect(performance.now() - at, log).toBeLessThan(5000);
  expect(status).toBe(130);
  expect(outputs).toMatchObject({ status: 'cancelled', 'exit-reason': 'cancelled', 'exit-code': '130' });
  await left; // git is gone, too
});
