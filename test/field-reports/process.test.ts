import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { gate, reply } from '../helpers/messages-server/reply.ts';
import { uniqueSeconds } from '../helpers/processes.ts';
import { checkGeneralRules } from './general-rules.ts';
import { begin, play, playApart } from './harness.ts';
import { placeOf } from './place.ts';
import { resultsOf } from './requests.ts';
import type { Case, Place } from './place.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });
const cli = useCli();

const bash = { bash: { allow: ['./run.sh'] } };
const callScript = reply.tool('bash', { command: './run.sh' });

function script(body: string): (place: Place) => void {
  return ({ workspace }) => {
    writeFileSync(join(workspace, 'run.sh'), `#!/bin/sh\n${body}\n`);
    chmodSync(join(workspace, 'run.sh'), 0o755);
  };
}

describe('the end of the process', () => {
  test('B101: comes with the result, though the service keeps its connection open', async () => {
    const run = await playApart(cli.path(), {
      replies: [reply.text('done', { pause: { after: 'message_stop', until: gate() } })],
    });
    expect(run.code).toBe(0);
  });

  test('B101: comes with the result, though a tool left a child', async () => {
    const run = await playApart(cli.path(), {
      task: { tools: bash },
      replies: [callScript, 'done'],
      prepare: script(`setsid sleep ${uniqueSeconds()} & nohup sleep ${uniqueSeconds()} & echo started`),
    });
    expect(run.code).toBe(0);
  });

  test('B101: comes with the result, though the tools filled their home folder, which is gone then', async () => {
    const run = await playApart(cli.path(), {
      task: { tools: bash },
      replies: [callScript, 'done'],
      prepare: script('cd "$HOME" && seq 1 20000 | xargs touch && pwd'),
    });
    expect(run.code).toBe(0);
    const home = resultsOf(run.turns[1])[0]?.text ?? '';
    expect(home).toMatch(/^\/.*home$/);
    expect(existsSync(home)).toBe(false);
  });

  test('B103: has one result for success, a limit, a failing service and a mistake in the task', async () => {
    const endings: [Case, code: number][] = [
      [{ replies: ['done'] }, 0],
      [{ replies: [callScript], task: { tools: bash, limits: { max_turns: 1, on_limit: 'stop' } } }, 4],
      [{ replies: [reply.error(400, 'invalid_request_error')] }, 6],
      [{ task: { prompt: 7 } }, 2],
    ];
    for (const [given, code] of endings) {
      const run = await playApart(cli.path(), { ...given, flags: ['--format', 'json'] });
      expect(run.code).toBe(code);
      expect(JSON.parse(run.stdout)).toMatchObject({ exit_code: code });
    }
  });

  test('B103: has its result after a tool that threw, and the model was told', async () => {
    const run = await play({
      task: { tools: { bash: { ...bash.bash, max_output: '1KiB' } } },
      replies: [callScript, 'done'],
      // A file where whole outputs are kept: storing one fails in the middle of the tool.
      prepare: script('rm -rf ../out/outputs; echo x > ../out/outputs; head -c 5000 /dev/zero'),
    });
    expect(run.code).toBe(0);
    expect(resultsOf(run.turns[1])).toMatchObject([
      { is_error: true, text: expect.stringContaining('The tool failed') as string },
    ]);
  });

  test.each([
    ['an exception that nobody caught', 'throw new Error("planted")'],
    ['a promise that nobody awaited', 'Promise.reject(new Error("planted"))'],
  ])('B103: has one result after %s', async (_what, code) => {
    const plant = `process.on('SIGUSR2',()=>{${code}})`;
    const running = await begin(cli.path(), {
      replies: [reply.stall({ after: 'delta' })],
      flags: ['--format', 'stream-json'],
      env: { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(plant).toString('base64')}` },
    });
    await running.said('turn_start');
    running.child.kill('SIGUSR2');
    const run = await running.done;
    expect(run.code).toBe(1);
    expect(run.result).toMatchObject({
      exit_reason: 'internal_error',
      message: expect.stringContaining('planted') as string,
    });
    expect(run.stdout.trimEnd().split('\n').at(-1)).toContain('"exit_code":1');
  });

  test('B105: is never 0 when an artifact could not be written, and the last line says so; the output is kept', async () => {
    const run = await play({
      task: { tools: bash },
      replies: [callScript, 'the answer'],
      prepare: script('mkdir ../out/summary.md'),
    });
    expect(run.result).toMatchObject({ exit_reason: 'io_error', exit_code: 1, output: 'the answer' });
    expect(run.stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^agent-run: io_error \(exit 1\): cannot write summary\.md/,
    );
    expect(run.events.at(-1)).toMatchObject({ type: 'run_end', exit_code: 1 });
    expect(run.stdout).toBe('the answer\n');
  });

  test('B105: is never 0 when the service failed, and its words never stand where the answer would', async () => {
    const busy = reply.error(429, 'rate_limit_error', {
      message: 'slow-down-text',
      headers: { 'retry-after-ms': '1' },
    });
    const always = await play({ task: { limits: { max_retries: 2 } }, replies: () => busy });
    expect(always.result).toMatchObject({ exit_reason: 'rate_limited', exit_code: 6, output: null });
    const forbidden = reply.error(403, 'permission_error', { message: 'no-entry-text' });
    const middle = await play({
      task: { tools: { read_file: {} } },
      replies: [reply.tool('read_file', { path: '.' }), forbidden],
    });
    expect(middle.result).toMatchObject({ exit_reason: 'auth_error', exit_code: 6, output: null });
    expect(always.stdout + middle.stdout).toBe('');
  });

  test('B107: is 6 for an unknown model, at once, with a message that names model and address', async () => {
    const missing = reply.error(404, 'not_found_error', { message: 'model: claude-nope' });
    const run = await play({
      model: { id: 'claude-nope' },
      server: { models: { 'claude-nope': {} } },
      replies: [missing],
    });
    expect(run.code).toBe(6);
    expect(run.turns).toHaveLength(1);
    expect(run.result.message).toContain('claude-nope');
    expect(run.result.message).toContain(run.server.url);
  });

  test('B115: is no success when the stream was cut after some text, however often', async () => {
    const cut = reply.cut({ content: [{ type: 'text', text: 'half an answer' }], after: 'delta' });
    const run = await play({ task: { limits: { max_retries: 1 } }, replies: () => cut });
    expect(run.result).toMatchObject({ exit_reason: 'api_error', exit_code: 6, output: null });
    expect(run.turns).toHaveLength(2);
    expect(run.stdout).toBe('');
  });
});

describe('the streams', () => {
  test('B111: a reader of stderr that leaves ends nothing', async () => {
    const running = await begin(cli.path(), {
      replies: [reply.text('kept', { pause: { after: 'head', until: 300 } })],
    });
    running.child.stderr.destroy();
    const run = await running.done;
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 0, stdout: 'kept\n' });
  });

  test('B111: a reader of stdout that leaves costs the code, not the artifacts', async () => {
    const text = 'x'.repeat(300_000);
    const running = await begin(cli.path(), {
      replies: [reply.text(text, { delta_size: 50_000, pause: { after: 'head', until: 200 } })],
    });
    running.child.stdout.destroy();
    const run = await running.done;
    expect(run.result).toMatchObject({ exit_reason: 'io_error', exit_code: 1 });
    expect(run.artifact('output.md')).toBe(`${text}\n`);
  });

  test('B111: a tool that ends before it reads its input ends nothing', async () => {
    const sink = {
      name: 'sink',
      description: 'Takes anything.',
      input_schema: { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] },
      command: ['true'],
      stdin: '{{ content }}',
    };
    const run = await play({
      task: { custom_tools: [sink] },
      replies: [
        reply.tools([{ name: 'sink', input: { content: 'x'.repeat(900_000) } }], { delta_size: 100_000 }),
        'done',
      ],
    });
    expect(run.code).toBe(0);
    expect(resultsOf(run.turns[1])).toMatchObject([{ is_error: false }]);
  });

  test('B113: standard input is not read: an open pipe that nobody writes to holds nothing up', async () => {
    const place = await placeOf({ replies: ['done'] });
    const fifo = join(place.folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const writer = openSync(fifo, 'r+');
    const child = spawn(process.execPath, [cli.path(), ...place.argv], {
      cwd: place.folder,
      env: place.env,
      stdio: [writer, 'ignore', 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(0);
    rmSync(fifo);
    expect(JSON.parse(readFileSync(join(place.run_dir, 'result.json'), 'utf8'))).toMatchObject({ output: 'done' });
  });

  test('B117: each event is on the pipe within 100 ms of happening', async () => {
    const hold = gate();
    const running = await begin(cli.path(), {
      task: { tools: { read_file: {} } },
      replies: [reply.tool('read_file', { path: '.' }), reply.text('done', { pause: { after: 'head', until: hold } })],
      flags: ['--format', 'stream-json'],
    });
    const late: number[] = [];
    running.child.stdout.on('data', (chunk: string) => {
      const now = Date.now();
      for (const time of chunk.matchAll(/"time":"([^"]+)"/g)) late.push(now - Date.parse(time[1] ?? ''));
    });
    await hold.reached;
    await running.said('"turn":2');
    expect(running.text.stdout).toContain('"tool_end"');
    hold.release();
    const run = await running.done;
    checkGeneralRules(run);
    expect(late.length).toBe(run.events.length);
    expect(late.toSorted((a, b) => a - b)[Math.floor(late.length / 2)]).toBeLessThan(100);
  });
});
