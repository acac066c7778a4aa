import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { hasVariable, listProcesses } from '../../src/workspace/process-list.ts';
import { ROOT } from '../helpers/pages.ts';
import { postStep, type RunnerStep, setUpStep, type Stage, startStage, type StepSetup } from '../helpers/runner.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const MAIN = join(ROOT, 'action/main.mjs');
const POST = join(ROOT, 'action/post.mjs');
/** Ignores TERM, and leaves a child behind that has a session of its own. */
const STUBBORN = `trap '' TERM\nsetsid sleep 301 &\necho $$ > started\nsleep 302\n`;

function stubborn(sandbox: object, text = 'Working.'): StepSetup {
  const call = { name: 'bash', input: { command: 'sh stubborn.sh' } };
  return {
    task: { tools: { bash: { allow: ['sh stubborn.sh'] } }, sandbox, output: { schema: { type: 'object' } } },
    turns: [{ text, usage: { input_tokens: 11, output_tokens: 5 }, tool_use: [call] }, { text: 'never' }],
    files: { 'stubborn.sh': STUBBORN },
  };
}

async function begin(setup: StepSetup): Promise<{ step: RunnerStep; main: Stage; mark: string }> {
  const mark = `STEP_OF_TEST=${Math.random().toString(36).slice(2)}`;
  const [name = '', value = ''] = mark.split('=');
  const { sandbox, ...task } = { sandbox: {}, ...setup.task };
  const step = setUpStep({ ...setup, task: { ...task, sandbox: { ...sandbox, env: [name] } }, env: { [name]: value } });
  const main = startStage(step, MAIN);
  const started = join(step.checkout, 'started');
  for (let tries = 0; !existsSync(started) && tries < 600; tries += 1) await sleep(25);
  if (!existsSync(started)) throw new Error(`the call did not begin: ${(await main.done).log}`);
  return { step, main, mark };
}

/** What of the step's processes lives; the temporary folders of a step are named alike. */
const living = (mark: string): string[] =>
  listProcesses().flatMap(({ pid, name }) => (hasVariable(pid, mark) ? [name] : []));
const ownTemp = (step: RunnerStep): string => {
  const state = /"temp":"([^"]+)"/.exec(readFileSync(join(step.folder, 'files/state'), 'utf8'));
  return state?.[1] ?? '';
};
const resultIn = (run_dir = ''): unknown => JSON.parse(readFileSync(join(run_dir, 'result.json'), 'utf8'));

describe('a cancelled step', () => {
  test('that gets INT and 7.5 seconds later TERM is over before the second, outputs and artifacts written', async () => {
    const { main, mark } = await begin(stubborn({ mode: 'off' }));
    const at = performance.now();
    main.child.kill('SIGINT');
    const { status, outputs, log } = await main.done;
    expect(performance.now() - at, log).toBeLessThan(7500);
    expect(status).toBe(130);
    expect(outputs).toMatchObject({ status: 'cancelled', 'exit-reason': 'cancelled', 'exit-code': '130', turns: '1' });
    expect(outputs['total-input-tokens']).toBe('11');
    expect(resultIn(outputs['run-dir'])).toMatchObject({ status: 'cancelled', exit_code: 130 });
    expect(log.match(/^::error .*$/gm)).toHaveLength(1);
    expect(living(mark)).toEqual([]);
  });

  test('that gets the second signal at once still hands on how it ended', async () => {
    const { step, main, mark } = await begin(stubborn({ mode: 'off' }));
    main.child.kill('SIGINT');
    await sleep(30);
    main.child.kill('SIGTERM');
    const { status, outputs, log } = await main.done;
    expect(status).toBe(130);
    expect(outputs).toMatchObject({ status: 'cancelled', 'exit-code': '130', 'total-input-tokens': '11' });
    expect(existsSync(ownTemp(step))).toBe(false);
    expect(log.match(/^::error .*$/gm)).toHaveLength(1);
    expect(living(mark)).toEqual([]);
  });
});

describe('a killed step', () => {
  test.each([
    ['without a sandbox', { mode: 'off' }],
    ['in a sandbox, where one works', { mode: 'auto' }],
  ])('%s looks like none that went well, and its post stage cleans up', async (_, sandbox) => {
    const { step, main, mark } = await begin(stubborn(sandbox));
    const temp = ownTemp(step);
    expect(existsSync(temp)).toBe(true);
    main.child.kill('SIGKILL');
    const { outputs } = await main.done;
    expect(outputs).toMatchObject({ status: 'failure', 'exit-reason': 'io_error', 'exit-code': '1', output: '' });
    const run_dir = outputs['run-dir'] ?? '';
    expect(outputs['transcript']).toBe(join(run_dir, 'transcript.jsonl'));
    expect(existsSync(join(run_dir, 'result.json'))).toBe(false);
    const post = await startStage(postStep(step), POST).done;
    expect(post.status, post.log).toBe(0);
    expect(living(mark)).toEqual([]);
    expect(existsSync(temp)).toBe(false);
    expect(readdirSync(step.checkout).sort()).toEqual(['started', 'stubborn.sh', 'task.json']);
    expect(resultIn(run_dir)).toMatchObject({
      status: 'failure',
      exit_reason: 'io_error',
      exit_code: 1,
      output: null,
      usage: { total_input_tokens: 11 },
    });
    expect(readdirSync(run_dir).filter((name) => name.startsWith('output.'))).toEqual([]);
    expect(post.log).toContain('::warning::agent-run was killed; its processes and temporary files were cleaned up\n');
    expect(post.summary).toContain('io_error');
  });

  test('that was killed before its first event gets a result, too', async () => {
    const { step, main } = await begin(stubborn({ mode: 'off' }));
    main.child.kill('SIGKILL');
    const { outputs } = await main.done;
    writeFileSync(join(outputs['run-dir'] ?? '', 'transcript.jsonl'), '');
    await startStage(postStep(step), POST).done;
    expect(resultIn(outputs['run-dir'])).toMatchObject({ exit_reason: 'io_error', status: 'failure', output: null });
  });

  test('is left alone by the post stage while its process lives', async () => {
    const { step, main, mark } = await begin(stubborn({ mode: 'off' }));
    const saved = postStep(step);
    const post = await startStage(saved, POST).done;
    expect(post.log).toContain('still alive');
    expect(living(mark)).toContain('sleep');
    main.child.kill('SIGKILL');
    await main.done;
    await startStage(saved, POST).done;
    expect(living(mark)).toEqual([]);
  });
});

test('the post stage of a step that ended by itself does nothing, and no temporary folder stays', async () => {
  const step = setUpStep({ turns: [{ text: 'Hello.' }] });
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('agent-run-step-'));
  const main = await startStage(step, MAIN).done;
  expect(main.status, main.log).toBe(0);
  const temp = ownTemp(step);
  expect(temp).not.toBe('');
  expect(existsSync(temp)).toBe(false);
  expect(before).not.toContain(temp);
  const post = await startStage(postStep(step), POST).done;
  expect(post).toMatchObject({ status: 0, log: '', summary: '' });
});
