import { existsSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { asEventStream, EVENTS, startPlatformServer } from '../helpers/platforms/server.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';

const cli = useCli();
const AWS = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Clients in the workspace, which may be a stranger's. */
const FAKE = Object.fromEntries(
  ['bedrock', 'vertex'].flatMap((name) => {
    const folder = `node_modules/@anthropic-ai/${name}-sdk`;
    const main = "import { writeFileSync } from 'node:fs';\nwriteFileSync('pwned', '');\n";
    return [
      [
        `${folder}/package.json`,
        JSON.stringify({ name: `@anthropic-ai/${name}-sdk`, type: 'module', main: 'index.js' }),
      ],
      [`${folder}/index.js`, main],
    ];
  }),
);

async function run(model: object, more: object = {}) {
  const cwd = tempFolder();
  const whole = { id: 'anthropic.claude-x', platform: 'bedrock', region: 'us-east-1', ...model };
  writeTree(cwd, FAKE);
  writeTree(cwd, { 'task.json': JSON.stringify({ prompt: 'Go.', sandbox: { mode: 'off' }, ...more, model: whole }) });
  const env = { ...AWS, ANTHROPIC_VERTEX_PROJECT_ID: 'a-project' };
  const ended = await cli.run(['task.json', '--out', 'run', '--format', 'json'], { cwd, env });
  return {
    ...ended,
    pwned: existsSync(join(cwd, 'pwned')),
    result: JSON.parse(ended.stdout) as Record<string, unknown>,
  };
}

test('a platform’s client that is not installed is the caller’s to install, and none of the workspace is run', async () => {
  for (const [platform, name] of [
    ['bedrock', '@anthropic-ai/bedrock-sdk'],
    ['vertex', '@anthropic-ai/vertex-sdk'],
  ]) {
    const { code, stderr, result, pwned } = await run({ platform });
    expect(pwned).toBe(false);
    expect({ code, reason: result['exit_reason'] }).toEqual({ code: 2, reason: 'config_error' });
    expect(stderr).toContain(`npm install ${name}`);
  }
});

test('the built command uses a client that stands beside it, errors of the client’s own SDK included', async () => {
  symlinkSync(MODULES, join(dirname(cli.path()), 'node_modules'));
  const said = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Done.' } },
  ];
  const events = [
    EVENTS[0] ?? {},
    ...said,
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ];
  const server = await startPlatformServer(() => asEventStream(events));
  const done = await run({ base_url: server.url });
  expect(done).toMatchObject({
    code: 0,
    result: { output: 'Done.', usage: { total_input_tokens: 30, cost_usd: null } },
  });

  const headers = { 'content-type': 'application/json' };
  const closed = await startPlatformServer(() => ({
    status: 403,
    headers,
    body: '{"message":"no access to the model"}',
  }));
  const refused = await run({ base_url: closed.url });
  expect(refused).toMatchObject({ code: 6, result: { exit_reason: 'auth_error' } });
  expect(refused.stderr).toContain('no access to the model');
  expect(refused.stderr).toContain("next: set AWS's credentials, then agent-run resume");

  const priceless = await run({ base_url: server.url }, { limits: { max_cost_usd: 1 } });
  expect(priceless).toMatchObject({ code: 2, result: { exit_reason: 'config_error' } });
});
