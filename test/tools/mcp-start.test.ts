import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import { started, stub } from './mcp-helpers.ts';
import type { McpServerConfig } from '../../src/core/config.ts';

const plain = { type: 'object', properties: {} };

async function refusal(...configs: McpServerConfig[]): Promise<string> {
  const error: unknown = await started(configs).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ reason: 'mcp_unavailable' });
  return error instanceof Error ? error.message : '';
}

describe('the tools of an MCP server', () => {
  test('are offered under the name of the server, only those of the task, in its order', async () => {
    const { tools } = await started([stub({ behaviour: 'pages' }, { tools: ['write', 'echo'] })]);
    expect(tools.map(({ definition }) => definition)).toEqual([
      { name: 'mcp__stub__write', description: '', input_schema: expect.objectContaining({ type: 'object' }) },
      {
        name: 'mcp__stub__echo',
        description: 'Says its text.',
        input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      },
    ]);
  });

  test('have a checker that follows their schema', async () => {
    const { checkers } = await started([stub({})]);
    const check = checkers.get('mcp__stub__echo');
    expect(check?.({ text: 'a' })).toEqual([]);
    expect(check?.({ text: 1 })).toEqual([expect.stringContaining('/text')]);
  });

  test('are described without what no reader sees, without end and without secrets', async () => {
    const description = `hunter2-hunter2 \u202e\u{e0041} ${'long '.repeat(2000)}`;
    const inputSchema = { ...plain, properties: { a: { type: 'string', description: 'x\u200by' } } };
    const { tools } = await started([stub({ tools: [{ name: 'echo', description, inputSchema }] })]);
    const [definition] = tools.map((tool) => tool.definition);
    expect(definition?.description).toMatch(/^\*\*\* \\u202e\\u\{e0041\} long /);
    expect(definition?.description.length).toBeLessThan(4100);
    expect(definition?.input_schema).toMatchObject({ properties: { a: { description: String.raw`x\u200by` } } });
  });

  test('are offered as plain objects where a schema combines others at its root', async () => {
    const inputSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      anyOf: [{ required: ['a'] }],
    };
    const { tools } = await started([stub({ tools: [{ name: 'echo', inputSchema }] })]);
    expect(tools[0]?.definition.input_schema).toEqual({ type: 'object', properties: {} });
  });

  test('may have the names of a prototype', async () => {
    const names = ['__proto__', 'constructor'];
    const { tools } = await started([stub({ tools: names.map((name) => ({ name })) }, { tools: names })]);
    expect(tools.map(({ definition }) => definition.name)).toEqual(['mcp__stub____proto__', 'mcp__stub__constructor']);
    expect({}).not.toHaveProperty('polluted');
  });

  test('that are no part of the task do not matter, however odd they are', async () => {
    const { tools } = await started([stub({ tools: [{ name: 'odd', inputSchema: 7 }, { name: 'echo' }] })]);
    expect(tools).toHaveLength(1);
  });

  test('come from a server that talks on its output, too', async () => {
    const { tools, stderr } = await started([stub({ behaviour: 'talks' })]);
    expect(tools).toHaveLength(1);
    expect(stderr()).toBe('Server running on stdio\n');
  });
});

describe('a server that cannot be used ends the run before its first request', () => {
  test('when its program is missing, with the name of the server', async () => {
    expect(await refusal(stub({}, { command: ['no-such-program'] }))).toBe(
      'MCP server "stub": cannot start: no-such-program: command not found on PATH',
    );
  });

  test('when it ends at once, with the last line of its stderr', async () => {
    expect(await refusal(stub({ behaviour: 'dies at start' }))).toBe(
      'MCP server "stub": it ended with exit code 4; its stderr ends with: no such database',
    );
  });

  test('when it crashes, with the cause that stands above the last line', async () => {
    const command = [process.execPath, '-e', "require('./nothing-here')"];
    expect(await refusal(stub({}, { command }))).toBe(
      `MCP server "stub": it ended with exit code 1; its stderr says: Error: Cannot find module './nothing-here'`,
    );
  });

  test.each(['initialize', 'tools/list'])('when it never answers %s', async (method) => {
    const config = stub({ behaviour: `never answers ${method}` }, { timeout_ms: 700 });
    expect(await refusal(config)).toBe('MCP server "stub": did not answer within 700 ms');
  });

  test('when it lacks a tool, naming the nearest', async () => {
    expect(await refusal(stub({ tools: [{ name: 'search' }] }, { tools: ['serach'] }))).toBe(
      'MCP server "stub": it has no tool "serach"; did you mean "search"?; it has search',
    );
  });

  test.each([
    ['is none', 7, 'has no input schema'],
    ['does not compile', { ...plain, required: 'a' }, 'does not compile'],
    ['is too long', { ...plain, description: 'x'.repeat(70_000) }, 'the limit is 65536'],
  ])('when the schema of a tool %s', async (_what, inputSchema, message) => {
    expect(await refusal(stub({ tools: [{ name: 'echo', inputSchema }] }))).toContain(message);
  });

  test('and then no other server is left running', async () => {
    const mark = uniqueSeconds();
    await refusal(stub({ mark }), stub({ behaviour: 'dies at start' }, { name: 'other' }));
    expect(processesWith(mark)).toEqual([]);
  });
});
