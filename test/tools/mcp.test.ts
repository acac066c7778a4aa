import { describe, expect, test } from 'vitest';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import { started, stub } from './mcp-helpers.ts';
import { call, textOf, toolContext } from './tool-context.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { ToolContext, ToolOutput } from '../../src/core/ports.ts';

const PLAN = { kind: 'call', effect: 'write' } as const;

async function ask(name: string, input: JsonObject = {}, changes: Partial<ToolContext> = {}): Promise<ToolOutput> {
  const { tool } = await started([stub({}, { tools: [name] })]);
  return call(tool(name), input, PLAN, toolContext(changes).context);
}

describe('a call to a tool of an MCP server', () => {
  test('gives back the text of its answer', async () => {
    const output = await ask('echo', { text: 'hello' });
    expect([output.status, textOf(output)]).toEqual(['ok', 'said: hello']);
  });

  test('is an error when the server says so', async () => {
    const output = await ask('fail');
    expect([output.status, textOf(output)]).toEqual(['error', 'it went wrong']);
  });

  test('shows structured content as JSON, resources as text, and a note for what cannot be shown', async () => {
    expect(textOf(await ask('structured'))).toBe('{"a":[1,2]}');
    expect(textOf(await ask('picture'))).toBe(
      '[image, "image/png", about 3 bytes, not shown]\n[resource "doc://a"]\nwords\n[a part of type "strange", not shown]',
    );
  });

  test.each([
    ['a content that is no list', { content: 'not a list' }, 'its content is no list: "not a list"'],
    ['a content that is no list beside structured', { content: {}, structuredContent: { a: 1 } }, 'no list: {}'],
    ['an error flag of another type', { content: [{ type: 'text', text: 'broke' }], isError: 'true' }, 'broke'],
  ])('is no success with %s', async (_what, result, said) => {
    const output = await ask('answer', { result });
    expect([output.status, textOf(output)]).toEqual(['error', expect.stringContaining(said)]);
  });

  test('keeps head and tail of a long answer and stores the whole', async () => {
    const { tool } = await started([stub({}, { tools: ['long'] })]);
    const { context, stored } = toolContext({ max_output_bytes: 1000 });
    const output = await call(tool('long'), {}, PLAN, context);
    expect(textOf(output)).toMatch(/^begin x+\n\[… \d+ bytes left out; read_file run:outputs\/1.txt .*\]\nx+ end$/s);
    expect(stored(output.output_file ?? '')).toHaveLength(100_010);
  });

  test('is told at once that an answer is too long, or cannot be read', async () => {
    const { tool } = await started([stub({ bytes: 20_000_000 }, { tools: ['long', 'garbage', 'echo'] })]);
    const long = await call(tool('long'), {}, PLAN);
    expect([long.status, textOf(long)]).toEqual([
      'error',
      expect.stringMatching(/has 200000\d\d bytes; the limit is 8388608/),
    ]);
    const garbage = await call(tool('garbage'), {}, PLAN);
    expect([garbage.status, textOf(garbage)]).toEqual(['error', expect.stringContaining('cannot be read')]);
    expect(textOf(await call(tool('echo'), { text: 'still here' }, PLAN))).toBe('said: still here');
  });

  test('redacts its answer', async () => {
    const output = await ask(
      'echo',
      { text: 'hunter2-hunter2' },
      { redact: (text) => text.replaceAll('hunter2', '*') },
    );
    expect(textOf(output)).toBe('said: *-*');
  });

  test('times out, is cancelled, and leaves the server to the next call', async () => {
    const { tool } = await started([stub({}, { tools: ['hang', 'echo'] })]);
    const late = await call(tool('hang'), {}, PLAN, toolContext({ timeout_ms: 200 }).context);
    expect(late.status).toBe('timed_out');
    const cut = new AbortController();
    const waiting = call(tool('hang'), {}, PLAN, toolContext({ signal: cut.signal }).context);
    cut.abort();
    expect((await waiting).status).toBe('cancelled');
    expect(textOf(await call(tool('echo'), { text: 'on' }, PLAN))).toBe('said: on');
  });

  test('says that the server died, then and ever after', async () => {
    const { tool } = await started([stub({}, { tools: ['die', 'echo'] })]);
    for (const [name, input] of [
      ['die', {}],
      ['echo', { text: 'x' }],
    ] as const) {
      const output = await call(tool(name), input, PLAN);
      expect([output.status, textOf(output)]).toEqual([
        'error',
        expect.stringContaining('is gone: it ended with exit code 3'),
      ]);
    }
  });

  test('ends a server that floods its output', async () => {
    const output = await ask('flood');
    expect([output.status, textOf(output)]).toEqual([
      'error',
      expect.stringContaining('it sent more than it was asked for'),
    ]);
  });

  test('offers no sampling', async () => {
    expect(textOf(await ask('sample'))).toMatch(/^sampling: .*[Mm]ethod not found|^sampling: .*not support/);
  });

  test('is of the list at the start: a server that changes it changes nothing', async () => {
    const { tools, tool } = await started([stub({}, { tools: ['change', 'echo'] })]);
    expect(textOf(await call(tool('change'), {}, PLAN))).toBe('changed');
    expect(tools.map(({ definition }) => definition.name)).toEqual(['mcp__stub__change', 'mcp__stub__echo']);
  });
});

describe('the end of a server', () => {
  test('takes all along that it started, within two seconds, even if it hangs', async () => {
    const seconds = uniqueSeconds();
    const { tool, end } = await started([stub({ behaviour: 'hangs on exit', mark: seconds }, { tools: ['children'] })]);
    await call(tool('children'), { seconds }, PLAN);
    expect(processesWith(seconds)).toHaveLength(2);
    const began = performance.now();
    await end();
    expect(performance.now() - began).toBeLessThan(2000);
    expect(processesWith(seconds)).toEqual([]);
  });

  test('by force takes no time at all', async () => {
    const seconds = uniqueSeconds();
    const { tool, kill } = await started([stub({ mark: seconds }, { tools: ['children'] })]);
    await call(tool('children'), { seconds }, PLAN);
    kill();
    await expect.poll(() => processesWith(seconds)).toEqual([]);
  });
});
