import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import type { ReplyLike } from '../helpers/messages-server/types.ts';
import { ROOT } from '../helpers/pages.ts';
import { readOutputs } from '../helpers/step-files.ts';
import { tempTree } from '../helpers/temp.ts';
import { REQUEST_TOKEN, startTokenServer } from '../helpers/token-server/server.ts';
import type { TokenServer, TokenServerOptions } from '../helpers/token-server/types.ts';

// Each test starts a real process, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

interface Ended {
  status: number | null;
  log: string;
  outputs: Record<string, string>;
  folder: string;
  tokens: TokenServer;
}

interface Setup {
  replies: ReplyLike[];
  options?: TokenServerOptions;
  env?: Record<string, string>;
  entry?: string[];
}

/** A step of a job with `id-token: write`, on a task that may run `env`. */
async function runKeyless({ replies, options = {}, env = {}, entry }: Setup): Promise<Ended> {
  const service = await startMessagesServer({ replies });
  const tokens = await startTokenServer({ upstream: service.url, ...options });
  onTestFinished(async () => {
    await tokens.close();
    await service.close();
  });
  const task = {
    prompt: 'Go.',
    model: 'claude-sonnet-5-5',
    tools: { bash: { allow: ['env', 'sleep 4'] } },
    sandbox: { mode: 'off' },
  };
  const folder = tempTree({ 'checkout/task.json': JSON.stringify(task), 'files/output': '', 'temp/.keep': '' });
  const { ANTHROPIC_FEDERATION_RULE_ID, ANTHROPIC_ORGANIZATION_ID, ...job } = tokens.env;
  const inputs = {
    INPUT_TASK: 'task.json',
    'INPUT_FEDERATION-RULE-ID': ANTHROPIC_FEDERATION_RULE_ID ?? '',
    'INPUT_ORGANIZATION-ID': ANTHROPIC_ORGANIZATION_ID ?? '',
  };
  const runner = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GITHUB_ACTIONS: 'true',
    GITHUB_OUTPUT: join(folder, 'files/output'),
    RUNNER_TEMP: join(folder, 'temp'),
  };
  const child = spawn(process.execPath, entry ?? [join(ROOT, 'dist/action.mjs')], {
    cwd: join(folder, 'checkout'),
    env: { ...runner, ...job, ...inputs, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text));
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, log, outputs: readOutputs(readFileSync(join(folder, 'files/output'), 'utf8')), folder, tokens };
}

/** Everything the step wrote, log included, but for the lines that tell the runner what to mask. */
function written({ log, folder }: Pick<Ended, 'log' | 'folder'>): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  return [log.replaceAll(/^::add-mask::.*$/gm, ''), ...files].join('\n');
}

const ENV_CALL = reply.tool('bash', { command: 'env' });

describe('a step without a key', () => {
  test('runs on the token of its job, which no tool, file or log line ever shows', async () => {
    const run = await runKeyless({ replies: [ENV_CALL, 'done'] });
    const { status, outputs, log, tokens } = run;
    expect({ status, refusals: tokens.refusals }, log).toEqual({ status: 0, refusals: [] });
    expect(outputs).toMatchObject({ status: 'success', output: 'done', turns: '2' });
    const all = written(run);
    expect(all).toContain('TERM=dumb');
    for (const secret of [...tokens.identity, ...tokens.access, REQUEST_TOKEN]) expect(all).not.toContain(secret);
    expect(log).toContain(`::add-mask::${tokens.identity[0]}\n`);
    expect(log).toContain(`::add-mask::${tokens.access[0]}\n`);
    expect(all).not.toContain('ACTIONS_ID_TOKEN');
  });

  test('gets a new token in mid-run before the old one ends', async () => {
    const slow = reply.tool('bash', { command: 'sleep 4' });
    const { status, tokens, log } = await runKeyless({ replies: [slow, 'done'], options: { expires_in: [7, 600] } });
    expect({ status, refusals: tokens.refusals }, log).toEqual({ status: 0, refusals: [] });
    expect(tokens.used).toEqual(tokens.access);
    expect(new Set(tokens.access).size).toBe(2);
  });

  test('gets a new token in mid-run when the service does not take the old one', async () => {
    const { status, tokens, log } = await runKeyless({
      replies: [ENV_CALL, ENV_CALL, 'done'],
      options: { expires_in: [0, 600] },
    });
    expect(status, log).toBe(0);
    expect(tokens.access).toHaveLength(2);
    expect(tokens.used.slice(0, 2)).toEqual(tokens.access);
  });

  test('ends with auth_error and one error line when the rule does not match', async () => {
    const { status, outputs, log, folder } = await runKeyless({
      replies: [],
      env: { 'INPUT_FEDERATION-RULE-ID': 'fdrl_wrong' },
    });
    expect(status).toBe(6);
    expect(outputs).toMatchObject({ 'exit-reason': 'auth_error', 'exit-code': '6', turns: '0' });
    expect(log.match(/^::error .*$/gm)).toHaveLength(1);
    expect(log).toContain('check that the rule fdrl_wrong matches this token');
    const all = written({ log, folder });
    expect(all).toContain('check the rule that ANTHROPIC_FEDERATION_RULE_ID names, then agent-run resume');
    expect(all).not.toContain('set ANTHROPIC_API_KEY');
  });

  test('says which permission its job lacks, before anything is asked', async () => {
    const { status, outputs, log, tokens } = await runKeyless({
      replies: [],
      env: { ACTIONS_ID_TOKEN_REQUEST_URL: '', ACTIONS_ID_TOKEN_REQUEST_TOKEN: '' },
    });
    expect(status).toBe(2);
    expect(outputs).toMatchObject({ 'exit-reason': 'config_error' });
    expect(log).toContain('permissions: id-token: write');
    expect(tokens.identity).toEqual([]);
  });

  test('refuses a key beside the ids, since the key would win in silence', async () => {
    const { status, log } = await runKeyless({ replies: [], env: { ANTHROPIC_API_KEY: 'sk-ant-api03-other-0123456' } });
    expect(status).toBe(2);
    expect(log).toContain('ANTHROPIC_API_KEY is set in the environment; keep one');
  });
});

test('the command line is keyless by environment alone', async () => {
  const run = await runKeyless({
    replies: ['done'],
    entry: [join(ROOT, 'dist/cli.mjs'), 'task.json', '--out', '../out'],
    env: { ANTHROPIC_FEDERATION_RULE_ID: 'fdrl_01', ANTHROPIC_ORGANIZATION_ID: 'org-01' },
  });
  expect(run.status, run.log).toBe(0);
  expect(run.tokens.used).toEqual(run.tokens.access);
});
