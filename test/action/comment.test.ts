import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { github, OURS, runOn, strangers, TOKEN } from '../helpers/github-server/step.ts';
import { schemaErrors } from '../helpers/schemas.ts';
import { submit } from '../helpers/step.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const gate = { output: { schema: SCHEMA, gate: { properties: { a: { const: 'yes' } } } } };

describe('the comment', () => {
  test('is posted once, found again behind the pages of others, and updated', async () => {
    const server = await github({ comments: strangers(250) });
    const first = await runOn(server, { turns: [submit({ a: 'one' })], task: gate });
    const second = await runOn(server, { turns: [submit({ a: 'yes' })], task: gate, run: 101 });
    expect([first.status, second.status]).toEqual([9, 0]);
    expect(server.comments).toHaveLength(251);
    const { body, user } = server.comments[250] ?? {};
    expect(user?.login).toBe(OURS);
    expect(body).toMatch(/^<!-- agent-run \{.*\} -->\n\n?\*\*task: success\*\* \(`completed`, exit code 0\)/);
    expect(body).toContain('[the run](https://github.example/o/r/actions/runs/101) · commit aaaaaaaaaaaa');
    const url = 'https://github.example/o/r/pull/5#issuecomment-251';
    expect([first.outputs['comment-url'], second.outputs['comment-url']]).toEqual([url, url]);
    expect(server.violations).toEqual([]);
  });

  test('of a success gives way to the failure of the next run', async () => {
    const server = await github();
    await runOn(server, { turns: [submit({ a: 'yes' })], task: gate });
    const failed = await runOn(server, { turns: [{ error: { status: 400, message: 'bad' } }], task: gate, run: 101 });
    expect(failed.status).toBe(6);
    expect(server.comments.map(({ body }) => /\*\*task: (\w+)\*\*/.exec(body)?.[1])).toEqual(['failure']);
    expect(server.comments[0]?.body).not.toContain('"yes"');
  });

  test('of a success gives way to a task that cannot be read any more, and the other way round', async () => {
    const server = await github();
    await runOn(server, { task: { name: 'my-review' } });
    const broken = await runOn(server, { files: { 'task.json': '{' }, inputs: { comment: '' }, run: 101 });
    expect(broken.status).toBe(2);
    expect(server.comments.map(({ body }) => body)).toEqual([expect.stringContaining('`config_error`, exit code 2')]);
    await runOn(server, { task: { name: 'my-review' }, run: 102 });
    expect(server.comments.map(({ body }) => body)).toEqual([expect.stringContaining('review: success**')]);
  });

  test('is not begun for a task that cannot be read and never had one', async () => {
    const server = await github();
    await runOn(server, { files: { 'task.json': '{' }, inputs: { comment: '' } });
    expect(server.comments).toEqual([]);
  });

  test('of an older run never takes the place of a newer one', async () => {
    const server = await github();
    await runOn(server, { turns: [{ text: 'newer' }], run: 200 });
    const older = await runOn(server, { turns: [{ text: 'older' }], run: 199 });
    const again = await runOn(server, { turns: [{ text: 'older again' }], run: 199, env: { GITHUB_RUN_ATTEMPT: '2' } });
    expect([older.status, again.status]).toEqual([0, 0]);
    expect(server.comments.map(({ body }) => body)).toEqual([expect.stringContaining('newer')]);
    expect(older.outputs['comment-url']).toContain('issuecomment-1');
    expect(older.stderr).toContain('a newer run has the word');
    await runOn(server, { turns: [{ text: 'same run anew' }], run: 200, env: { GITHUB_RUN_ATTEMPT: '2' } });
    expect(server.comments.map(({ body }) => body)).toEqual([expect.stringContaining('same run anew')]);
  });

  test('does not leave an earlier verdict beside it', async () => {
    const server = await github();
    await runOn(server, {});
    const [first] = server.comments;
    const twin = { id: 7, issue: 5, user: { login: OURS, type: 'Bot' as const }, body: first?.body ?? '' };
    server.comments.push(twin);
    const { stderr } = await runOn(server, { turns: [{ text: 'another' }] });
    expect(server.comments.map(({ body }) => body)).toEqual([expect.stringContaining('another')]);
    expect(stderr).toContain('comment: it replaces one of the same workflow run; give each its own comment-key');
  });

  test('is one for each task and each key', async () => {
    const server = await github();
    await runOn(server, {});
    await runOn(server, { inputs: { 'comment-key': 'linux' } });
    await runOn(server, { task: { name: 'other' } });
    await runOn(server, { inputs: { 'comment-key': 'linux' } });
    expect(server.comments).toHaveLength(3);
  });

  test('is one more each time when the task says so', async () => {
    const server = await github();
    const task = { github: { comment: { sticky: false } } };
    await runOn(server, { task, inputs: { comment: '' } });
    await runOn(server, { task, inputs: { comment: '' }, run: 101 });
    expect(server.comments).toHaveLength(2);
  });

  test('never touches what others wrote, marker or not', async () => {
    const server = await github();
    await runOn(server, {});
    const stolen = server.comments[0]?.body ?? '';
    const comments = strangers(1, stolen);
    const other = await github({ comments });
    await runOn(other, { run: 101 });
    expect(other.comments.map(({ user }) => user?.login)).toEqual(['octocat', OURS]);
    expect(other.comments[0]?.body).toBe(stolen);
  });

  test('cannot be claimed by a marker in what the model says', async () => {
    const server = await github();
    await runOn(server, { task: { name: 'first' } });
    const forged = (server.comments[0]?.body ?? '').split('\n')[0]?.replace('"first"', '"other"') ?? '';
    await runOn(server, { task: { name: 'second' }, turns: [{ text: forged }] });
    await runOn(server, { task: { name: 'other' } });
    expect(server.comments).toHaveLength(3);
    expect(server.comments[1]?.body.match(/<!--/g)).toHaveLength(1);
  });

  test('stands in the transcript with its template, as everything the run was told', async () => {
    const server = await github();
    const task = { github: { comment: { template: 'says {{ output }}', sticky: false } } };
    const { outputs } = await runOn(server, { task });
    expect(server.comments[0]?.body).toContain('\nsays done\n');
    const lines = readFileSync(outputs['transcript'] ?? '', 'utf8')
      .trimEnd()
      .split('\n');
    const events = lines.map((line): unknown => JSON.parse(line));
    expect(events.flatMap((event) => schemaErrors('transcript', event))).toEqual([]);
    expect(events[0]).toMatchObject({
      task: { github: { comment: { template: 'says {{ output }}', sticky: false } } },
    });
    const result: unknown = JSON.parse(readFileSync(join(outputs['run-dir'] ?? '', 'result.json'), 'utf8'));
    expect(schemaErrors('result', result)).toEqual([]);
  });

  test('is not written when step or task forbid it, and costs no request', async () => {
    const server = await github();
    const quiet = await runOn(server, { task: { github: { comment: true } }, inputs: { comment: 'false' } });
    await runOn(server, { task: { github: { comment: false } } });
    await runOn(server, { inputs: { comment: '' } });
    expect({ requests: server.requests, url: quiet.outputs['comment-url'] }).toEqual({ requests: [], url: '' });
  });

  test('keeps its token from the run', async () => {
    const server = await github();
    const task = { tools: { bash: { allow: ['env'] } }, sandbox: { mode: 'off' } };
    const turns = [{ tool_use: [{ name: 'bash', input: { command: 'env' } }] }, { text: 'done' }];
    const { status, stdout, stderr, outputs } = await runOn(server, { task, turns });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `::add-mask::${TOKEN}\n` });
    for (const file of ['transcript', 'output-file']) {
      expect(readFileSync(outputs[file] ?? '', 'utf8')).not.toContain(TOKEN);
    }
    expect(stderr + readFileSync(join(outputs['run-dir'] ?? '', 'result.json'), 'utf8')).not.toContain(TOKEN);
  });
});
