import { describe, expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

function taskOf(mcp_servers: unknown): Record<string, string> {
  return { 'task.json': JSON.stringify({ prompt: 'x', model: 'm', mcp_servers }, null, 1) };
}

async function refused(mcp_servers: unknown): Promise<string> {
  return refusal({ folder: tempFolder(), files: taskOf(mcp_servers) });
}

describe('MCP servers of a task', () => {
  test('stand in it whole, with their defaults', async () => {
    const said = {
      command: 'docs-server',
      args: ['--stdio'],
      env: ['DOCS_TOKEN'],
      tools: ['a', 'b'],
      read_only: ['a'],
    };
    const limits = { timeout: '30s', network: ['docs.example.com'], max_calls: 2, on_denied: 'fail' };
    const files = taskOf({ docs: { ...said, ...limits }, plain: { command: 'p', tools: ['c'] } });
    expect((await load({ folder: tempFolder(), files })).task.mcp_servers).toEqual([
      {
        name: 'docs',
        command: ['docs-server', '--stdio'],
        env: ['DOCS_TOKEN'],
        tools: ['a', 'b'],
        read_only: ['a'],
        network: ['docs.example.com'],
        timeout_ms: 30_000,
        max_output_bytes: 30_720,
        max_calls: 2,
        on_denied: 'fail',
      },
      {
        name: 'plain',
        command: ['p'],
        env: [],
        tools: ['c'],
        read_only: [],
        network: false,
        max_output_bytes: 30_720,
        on_denied: 'continue',
      },
    ]);
  });

  test('may be reached at a URL, with headers from the environment', async () => {
    const remote = { url: 'https://mcp.example.com/', headers_env: { Authorization: 'REMOTE_AUTH' }, tools: ['find'] };
    const { task } = await load({ folder: tempFolder(), files: taskOf({ remote }) });
    expect(task.mcp_servers).toMatchObject([{ name: 'remote', command: [], ...remote, env: [], network: false }]);
  });

  test.each([undefined, {}])('are no part of a task that names none: %j', async (servers) => {
    const { task } = await load({ folder: tempFolder(), files: taskOf(servers) });
    expect(task).not.toHaveProperty('mcp_servers');
  });

  test.each([
    ['a list of its tools', { command: 'b' }, '"tools"'],
    [
      'tools that are read-only among them',
      { command: 'b', tools: ['search'], read_only: ['serach'] },
      'did you mean "search"?',
    ],
    ['each tool once', { command: 'b', tools: ['a.b', 'a_b'] }, 'offered as mcp__docs__a_b, as is "a.b" of "docs"'],
    ['short names', { command: 'b', tools: ['x'.repeat(60)] }, 'at most 64 characters'],
    ['a command or a URL', { tools: ['a'] }, '"command"'],
    ['an address', { url: 'https://', tools: ['a'] }, 'expected an address'],
    ['no password in it', { url: 'https://u:p@h.example/', tools: ['a'] }, 'name a secret in "headers_env"'],
    [
      'https where a secret is sent',
      { url: 'http://h.example/', headers_env: { Authorization: 'A' }, tools: ['a'] },
      'would be sent in the clear',
    ],
    [
      'headers of their own',
      { url: 'https://h.example/', headers_env: { 'Mcp-Session-Id': 'A' }, tools: ['a'] },
      'found "Mcp-Session-Id", which is not for a task to set',
    ],
    [
      'names of headers',
      { url: 'https://h.example/', headers_env: { 'a b': 'A' }, tools: ['a'] },
      'found "a b", expected the name of a header',
    ],
    ['no command beside a URL', { url: 'https://h.example/', command: 'b', tools: ['a'] }, '"url"'],
  ])('need %s', async (_what, server, message) => {
    expect(await refused({ docs: server })).toContain(message);
  });

  test('must not offer two tools under one name between them', async () => {
    const servers = { a: { command: 'x', tools: ['b__c'] }, a__b: { command: 'x', tools: ['c'] } };
    expect(await refused(servers)).toContain('offered as mcp__a__b__c, as is "b__c" of "a"');
  });
});
