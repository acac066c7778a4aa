import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { begin, play, playIn } from './harness.ts';
import { placeOf } from './place.ts';
import { lastText } from './requests.ts';

vi.setConfig({ testTimeout: 30_000 });
const cli = useCli();
const tools = { read_file: {} };
const read = reply.tool('read_file', { path: 'README.md' });

describe('the transcript', () => {
  test('B153: is on disk event by event, and its path is announced at the start', async () => {
    const running = await begin(cli.path(), { task: { tools }, replies: [read, reply.stall({ after: 'delta' })] });
    await running.said('transcript: ');
    const file = join(running.place.run_dir, 'transcript.jsonl');
    expect(running.text.stderr).toContain(`transcript: ${file}`);
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"turn":2'), { timeout: 10_000 });
    expect(readFileSync(file, 'utf8')).toContain('"tool_end"');
    running.child.kill('SIGTERM');
    expect((await running.done).code).toBe(143);
  });

  test('B153: is whole after a limit', async () => {
    const run = await play({ task: { tools, limits: { max_turns: 2, on_limit: 'stop' } }, replies: () => read });
    expect(run.events.filter((event) => event.type === 'model_reply')).toHaveLength(2);
    expect(run.events.at(-1)).toMatchObject({ type: 'run_end', exit_code: 4 });
  });

  test('B153: of a full disk is whole up to its last line, and the run says what happened', async () => {
    const place = await placeOf({
      task: { tools },
      files: { 'big.txt': 'line of text\n'.repeat(4000) },
      replies: Array.from({ length: 8 }, () => reply.tool('read_file', { path: 'big.txt' })),
    });
    // No file may grow beyond 60 KiB: what a full disk does to the transcript, and not to the small files.
    const argv = ['-c', 'ulimit -f 60; exec "$@"', 'bash', process.execPath, cli.path(), ...place.argv];
    const running = await new Promise<{ code: number | null; stderr: string }>((resolve) => {
      const child = spawn('bash', argv, { cwd: place.folder, env: place.env });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.on('exit', (code) => resolve({ code, stderr }));
    });
    expect(running.code).toBe(1);
    const result = JSON.parse(readFileSync(join(place.run_dir, 'result.json'), 'utf8')) as object;
    expect(result).toMatchObject({ exit_reason: 'io_error', exit_code: 1 });
    const lines = readFileSync(join(place.run_dir, 'transcript.jsonl'), 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    const events = lines.map((line): unknown => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ type: 'run_end', exit_code: 1 });
    expect(running.stderr).toMatch(/io_error/);
  });

  test('B155: of an earlier run is gone when a run in the same folder fails early', async () => {
    const place = await placeOf({ replies: ['one'] });
    const first = await playIn(place);
    expect(first.artifact('output.md')).toBe('one\n');
    const { ANTHROPIC_API_KEY: _key, ...env } = place.env;
    const second = await playIn({ ...place, env });
    expect(second.code).toBe(2);
    expect(second.result.run_id).not.toBe(first.result.run_id);
    expect(second.artifact('output.md')).toBeUndefined();
    expect(second.artifact('transcript.jsonl')).not.toContain(first.result.run_id);
    writeFileSync(join(place.folder, 'task.json'), '{ "prompt": ');
    const third = await playIn(place);
    expect(third.code).toBe(2);
    expect(existsSync(join(place.run_dir, 'output.md'))).toBe(false);
    expect(third.artifact('transcript.jsonl') ?? '').toBe('');
    expect(new Set([first, second, third].map(({ result }) => result.run_id)).size).toBe(3);
  });

  test('B157: holds no live token, whether a tool printed it, a file held it or the service echoed it', async () => {
    const own = 'own-secret-value-42';
    const shapes = {
      github: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
      openai: 'sk-proj-abcdefghijklmnop0123456789',
      aws: 'AKIAIOSFODNN7EXAMPLE',
      bearer: 'abcdef0123456789abcdef0123456789',
      pem: 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7',
    };
    const leak = [
      `token ${shapes.github}`, `OPENAI=${shapes.openai}`, shapes.aws, `Authorization: Bearer ${shapes.bearer}`,
      `-----BEGIN PRIVATE KEY-----\n${shapes.pem}\n-----END PRIVATE KEY-----`, `mine ${own}`, Buffer.from(own).toString('base64'),
    ].join('\n'); // prettier-ignore
    const echo = reply.error(400, 'invalid_request_error', {
      message: `bad headers: Authorization: Bearer ${shapes.bearer}, x: ${own}`,
    });
    const run = await play({
      task: { tools: { ...tools, bash: { allow: ['cat *'] } }, redact: ['CORP_VALUE'] },
      env: { CORP_VALUE: own },
      files: { 'leak.txt': leak },
      replies: [
        reply.tools([
          { name: 'read_file', input: { path: 'leak.txt' } },
          { name: 'bash', input: { command: 'cat leak.txt' } },
        ]),
        echo,
      ],
      canaries: [own, ...Object.values(shapes)],
    });
    expect(run.code).toBe(6);
    const sent = lastText(run.turns[1]);
    for (const secret of [own, ...Object.values(shapes)]) expect(sent).not.toContain(secret);
    expect(sent).toContain('[redacted');
  });

  test('B159: is one JSON value a line, UTF-8, without NUL or BOM, whatever the tools print', async () => {
    const run = await play({
      task: { tools: { bash: { allow: ['cat *', 'head *'] } } },
      files: { 'odd.bin': Buffer.from([0xef, 0xbb, 0xbf, 0, 1, 0xff, 0x0a, 0xe2, 0x80, 0xa8, 0x0d, 0x0a]) },
      replies: [reply.tool('bash', { command: 'cat odd.bin' }), 'done \u2028 and \u0000 so on'],
    });
    const bytes = readFileSync(join(run.run_dir, 'transcript.jsonl'));
    expect(bytes.includes(0)).toBe(false);
    expect(bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))).toBe(false);
    expect(bytes.includes('\r')).toBe(false);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    expect(text.endsWith('\n')).toBe(true);
    const lines = text.slice(0, -1).split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(lines.map((_, index) => index + 1));
  });

  test('B159: killed during a big write loses at most its last line, and the run can go on', async () => {
    const big = reply.text('y'.repeat(4_000_000), { delta_size: 200_000 });
    const running = await begin(cli.path(), { task: { tools }, replies: [read, big, 'after all'] });
    running.done.catch(() => {}); // SIGKILL leaves no result
    const file = join(running.place.run_dir, 'transcript.jsonl');
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"turn":2'), { timeout: 10_000 });
    running.child.kill('SIGKILL');
    await new Promise((resolve) => running.child.once('exit', resolve));
    const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    for (const line of whole) expect(() => JSON.parse(line) as unknown).not.toThrow();
    const resumed = await playIn(running.place, ['resume', 'out']);
    expect(resumed.code).toBe(0);
  });

  test('B159: is never shared: a second run in the same folder is a config error while the first lives', async () => {
    const place = await placeOf({ replies: [reply.text('one', { pause: { after: 'head', until: 1500 } })] });
    const first = playIn(place);
    await vi.waitFor(() => expect(existsSync(join(place.run_dir, '.lock'))).toBe(true), { timeout: 5000 });
    const second = spawnSync(process.execPath, [cli.path(), ...place.argv], {
      cwd: place.folder,
      env: place.env,
      encoding: 'utf8',
    });
    expect(second.status).toBe(2);
    expect(second.stderr).toMatch(/another run .* is writing/);
    expect((await first).code).toBe(0);
  });

  test('B161: and the other files carry the version of their form', async () => {
    const run = await play({ replies: ['done'] });
    expect(run.result.schema_version).toBe(1);
    expect(run.usage.schema_version).toBe(1);
    expect(run.events[0]).toMatchObject({ type: 'run_start', transcript_version: 1 });
  });
});
