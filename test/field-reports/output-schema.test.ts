import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reply } from '../helpers/messages-server/reply.ts';
import { play } from './harness.ts';
import { lastText } from './requests.ts';
import type { FieldRun } from './harness.ts';

/** An object with one text, in a form that goes to the model as a tool and in one that goes natively. */
const A = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const OPEN = { type: 'object', properties: { a: { type: 'number' }, list: { type: 'array' } }, required: ['a'] };

function output(schema: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { output: { schema, ...more } };
}

const submit = (value: Record<string, unknown>) => reply.tool('submit_result', value);

describe('the output', () => {
  test('B043: stands in its file and on stdout in every output mode', async () => {
    for (const format of ['text', 'json', 'stream-json']) {
      const run = await play({ task: output(A), replies: ['{"a":"x"}'], flags: ['--format', format] });
      expect(run.code).toBe(0);
      expect(run.artifact('output.json')).toBe('{"a":"x"}\n');
      expect(run.stdout.replaceAll('\\', '')).toContain('{"a":"x"}');
    }
  });

  test('B045: that is refused is recorded with its number, value and errors, and its tokens count', async () => {
    const run = await play({
      task: output({ ...A, $comment: 'x', minProperties: 1 }),
      replies: [submit({ $PARAMETER_NAME: 'x' }), submit({ a: 'x' })],
    });
    expect(run.code).toBe(0);
    const checks = run.events.filter((event) => event.type === 'output_checked');
    expect(checks.map(({ attempt, ok }) => [attempt, ok])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(checks[0]?.issues.length).toBeGreaterThan(0);
    expect(checks[0]?.value_text).toBe('{"$PARAMETER_NAME":"x"}');
    const said = lastText(run.turns[1]);
    expect(said).toContain('"a"');
    expect(said).toContain('$PARAMETER_NAME');
    expect(run.usage).toMatchObject({ turns: 2, total_output_tokens: 10 });
  });

  test('B047: in one fence with prose around is taken, two fences with different values are asked about', async () => {
    const fence = (value: string): string => `\`\`\`json\n${value}\n\`\`\``;
    const one = await play({ task: output(A), replies: [`Here it is:\n${fence('{"a":"x"}')}\nThat is all.`] });
    expect(one.result.output).toEqual({ a: 'x' });
    const two = `${fence('{"a":"x"}')}\nor\n${fence('{"a":"y"}')}`;
    const asked = await play({ task: output(A), replies: [two, '{"a":"y"}'] });
    expect(asked.result.output).toEqual({ a: 'y' });
    expect(lastText(asked.turns[1])).toContain('2 different JSON values');
  });

  test('B049: that is no JSON is an invalid attempt whose parse error is quoted', async () => {
    const run = await play({ task: output(A), replies: ['last 1.5 hours', '{"a":"1.5 h"}'] });
    expect(run.code).toBe(0);
    expect(lastText(run.turns[1])).toMatch(/not valid JSON: .+send the value only/s);
  });

  test('B051: that was cut is never closed by us, though the rest would do', async () => {
    const cut = reply.text('{"a":1,"list":[1,2', { stop_reason: 'max_tokens' });
    const run = await play({ task: output(OPEN), replies: () => cut });
    expect(run.result).toMatchObject({ exit_reason: 'truncated', exit_code: 3, output: null });
    const cutCall = { type: 'tool_use', name: 'submit_result', input_json: '{"a":1,"list":[1,2' };
    const called = await play({
      task: output({ ...OPEN, minProperties: 1 }),
      replies: () => reply.message({ content: [cutCall], stop_reason: 'max_tokens' }),
    });
    expect(called.result).toMatchObject({ exit_reason: 'truncated', exit_code: 3, output: null });
  });

  test('B071: has its validity beside it, for later steps to gate on', async () => {
    const valid = await play({ task: output(A), replies: ['{"a":"x"}'] });
    expect(valid.result).toMatchObject({ status: 'success', output: { a: 'x' }, output_errors: [] });
    const invalid = await play({ task: output(A, { repair_attempts: 0 }), replies: ['{"a":1}'] });
    expect(invalid.result).toMatchObject({ status: 'failure', exit_reason: 'output_invalid', output: null });
    expect(invalid.result.output_errors).toMatchObject([{ pointer: '/a' }]);
    const missing = await play({
      task: output({ ...A, minProperties: 1 }, { repair_attempts: 0 }),
      replies: [submit({})],
    });
    expect(missing.result).toMatchObject({ status: 'failure', exit_code: 3, output: null });
  });

  test('B069: keeps numbers above 2^53 as written, in tool input, history and file', async () => {
    const id = '2512292042121000001';
    const looked = { type: 'tool_use', name: 'grep', input_json: `{"pattern":"x","max_results":${id}}` };
    const handed = { type: 'tool_use', name: 'submit_result', input_json: `{"id":${id}}` };
    const run = await play({
      task: {
        tools: { grep: {} },
        ...output({ type: 'object', properties: { id: { type: 'integer' } }, minProperties: 1 }),
      },
      replies: [reply.message({ content: [looked] }), reply.message({ content: [handed] })],
    });
    expect(run.turns[1]?.text).toContain(`"max_results":${id}`);
    expect(run.artifact('output.json')).toBe(`{"id":${id}}\n`);
    for (const name of ['transcript.jsonl', 'output.json'])
      expect(run.artifact(name)).not.toContain('2512292042121000000');
  });
});

describe('the schema', () => {
  test('B053: may be a union at its root; the service sees an object, the schema itself decides', async () => {
    const B = { type: 'object', properties: { b: { type: 'number' } }, required: ['b'], additionalProperties: false };
    const run = await play({
      task: output({ oneOf: [A, B] }),
      replies: [submit({ result: { a: 'x', b: 1 } }), submit({ result: { b: 2 } })],
    });
    expect(run.result.output).toEqual({ b: 2 });
    const [tool] = (run.turns[0]?.body['tools'] ?? []) as { input_schema: Record<string, unknown> }[];
    expect(tool?.input_schema).toMatchObject({ type: 'object', required: ['result'] });
    expect(Object.keys(tool?.input_schema ?? {})).not.toContain('oneOf');
  });

  test('B057: is read in the draft that $schema names, and an unknown draft is a config error that names it', async () => {
    const drafts = [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2019-09/schema',
      'https://json-schema.org/draft/2020-12/schema',
    ];
    for (const $schema of drafts) {
      const run = await play({ task: output({ $schema, ...A }), replies: () => '{"a":"x"}' });
      expect(run.code, $schema).toBe(0);
    }
    const unknown = 'http://json-schema.org/draft-03/schema#';
    const run = await play({ task: output({ $schema: unknown, ...A }) });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(unknown);
  });

  const FORMATS: [format: string, bad: string][] = [
    ['date-time', 'yesterday'], ['date', '2026-13-01'], ['time', 'noon'], ['email', 'nobody'], ['uri', 'no uri'],
    ['uri-reference', '\\\\x'], ['uuid', '123'], ['ipv4', '1.2.3.999'], ['ipv6', 'xyz'], ['hostname', '-x-'],
    ['regex', '('], ['json-pointer', 'a/b'], ['duration', '5 minutes'],
  ]; // prettier-ignore

  test.each(FORMATS)('B059: the format %s is asserted in every draft', async (format, bad) => {
    const schema = { type: 'object', properties: { v: { type: 'string', format } }, required: ['v'] };
    for (const draft of ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema']) {
      const run = await play({
        task: output({ $schema: draft, ...schema }, { repair_attempts: 0 }),
        replies: () => JSON.stringify({ v: bad }),
      });
      expect(run.result.exit_reason, draft).toBe('output_invalid');
    }
  });

  test('B061: takes patterns that only the u flag refuses, and a pattern that is none is a config error with its place', async () => {
    const withPattern = (pattern: string) =>
      output({ type: 'object', properties: { v: { type: 'string', pattern } }, required: ['v'] });
    const run = await play({ task: withPattern('^\\d{4}\\-\\d{2}$'), replies: () => '{"v":"2026-11"}' });
    expect(run.code).toBe(0);
    const bad = await play({ task: withPattern('(') });
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain('/properties/v/pattern');
  });

  test('B063: counts decimal steps exactly', async () => {
    const schema = { type: 'object', properties: { price: { type: 'number', multipleOf: 0.01 } }, required: ['price'] };
    const codes: (number | null)[] = [];
    for (const price of ['1.11', '143.48', '8.69', '1.115']) {
      const run = await play({ task: output(schema, { repair_attempts: 0 }), replies: () => `{"price":${price}}` });
      codes.push(run.code);
    }
    expect(codes).toEqual([0, 0, 0, 3]);
  });

  test('B065: may hold a discriminator with a mapping: it is ignored with a warning, oneOf decides', async () => {
    const kind = (name: string) => ({ type: 'object', properties: { kind: { const: name } }, required: ['kind'] });
    const schema = {
      oneOf: [{ $ref: '#/$defs/cat' }, { $ref: '#/$defs/dog' }],
      discriminator: { propertyName: 'kind', mapping: { cat: '#/$defs/cat', dog: '#/$defs/dog' } },
      $defs: { cat: kind('cat'), dog: kind('dog') },
    };
    const run = await play({
      task: output(schema),
      replies: [submit({ result: { kind: 'cow' } }), submit({ result: { kind: 'dog' } })],
    });
    expect(run.result.output).toEqual({ kind: 'dog' });
    expect(run.result.warnings).toEqual([expect.stringContaining('discriminator')]);
  });

  test('B067: that is missing, no JSON, no schema or refers to nothing is a config error with file and pointer', async () => {
    const named = (text: string | undefined): Promise<FieldRun> =>
      play({ task: output('s.json'), beside: text === undefined ? {} : { 's.json': text } });
    const missing = await named(undefined);
    expect(missing.stderr).toMatch(/s\.json.*no such file/);
    const broken = await named('{"type": ');
    expect(broken.stderr).toMatch(/s\.json:1:\d+/);
    const wrong = await named('{"properties":{"a":{"type":"objekt"}}}');
    expect(wrong.stderr).toMatch(/s\.json.*\/properties\/a\/type/);
    const dangling = await named('{"properties":{"a":{"$ref":"#/$defs/none"}}}');
    expect(dangling.stderr).toMatch(/s\.json.*\/properties\/a\/\$ref/);
    for (const run of [missing, broken, wrong, dangling]) expect(run.code).toBe(2);
  });
});

test('B043: a text in text mode is written and shown as well', async () => {
  const run = await play({ replies: ['All is well.'] });
  expect(run.stdout).toBe('All is well.\n');
  expect(readFileSync(join(run.run_dir, 'output.md'), 'utf8')).toBe('All is well.\n');
});
