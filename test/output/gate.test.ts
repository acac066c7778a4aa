import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import type { JsonValue } from '../../src/core/json.ts';
import { createGate } from '../../src/output/gate.ts';

const review = {
  type: 'object',
  required: ['verdict'],
  additionalProperties: false,
  properties: { verdict: { enum: ['pass', 'fail'] }, id: { type: 'integer' }, list: { type: 'array', items: {} } },
};
const union = { oneOf: [{ type: 'object', required: ['a'] }, { type: 'array' }] };

async function gateFor(
  schema: JsonValue | undefined,
  options: { gate?: JsonValue; native?: boolean; prompts?: number } = {},
) {
  const output = {
    repair_attempts: 2,
    ...(schema === undefined ? {} : { schema }),
    ...(options.gate === undefined ? {} : { gate: options.gate }),
  };
  return createGate(output, { prompts: options.prompts ?? 1, native: options.native ?? false });
}

const checkText = async (schema: JsonValue | undefined, text: string) =>
  (await gateFor(schema)).check({ source: 'text', text });
const checkCall = async (schema: JsonValue, input_json: string) =>
  (await gateFor(schema)).check({ source: 'tool', tool_use_id: 'toolu_1', input_json });

describe('the way an output is asked for', () => {
  test('is plain text without a schema, and a tool with one', async () => {
    expect(await gateFor(undefined)).toMatchObject({ mode: 'text', has_gate: false });
    const gate = await gateFor(review);
    expect(gate).toMatchObject({ mode: 'tool', tool: { name: 'submit_result', input_schema: review } });
    expect(gate.native_schema).toBeUndefined();
  });

  test('is native only if the service can, the schema fits unchanged, and one prompt is asked', async () => {
    const fit = { type: 'object', additionalProperties: false, required: ['a'], properties: { a: { type: 'string' } } };
    expect(await gateFor(fit, { native: true })).toMatchObject({ mode: 'native', native_schema: fit });
    expect((await gateFor(fit, { native: true })).tool).toBeUndefined();
    expect((await gateFor(fit, { native: true, prompts: 2 })).mode).toBe('tool');
    expect((await gateFor(fit)).mode).toBe('tool');
    expect((await gateFor({ ...fit, minProperties: 1 }, { native: true })).mode).toBe('tool');
  });
});

describe('an output in text', () => {
  test('is any text but an empty one without a schema', async () => {
    expect(await checkText(undefined, 'Hello \ud83d')).toEqual({
      ok: true,
      kind: 'valid',
      issues: [],
      value_text: 'Hello \ufffd',
    });
    expect(await checkText(undefined, ' \n')).toMatchObject({ ok: false, kind: 'missing' });
  });

  test('is kept exactly as it arrived', async () => {
    const text = '{ "verdict" : "pass", "id": 2512292042121000001 }';
    expect(await checkText(review, `Done:\n\`\`\`json\n${text}\n\`\`\``)).toEqual({
      ok: true,
      kind: 'valid',
      issues: [],
      value_text: text,
    });
  });

  test.each(['output', 'result'])('is taken out of {"%s": …} when only the inside is valid', async (key) => {
    expect(await checkText(review, `{"${key}": {"verdict":"pass"} }`)).toMatchObject({
      ok: true,
      value_text: '{"verdict":"pass"}',
    });
    expect(await checkText(review, `{"${key}": {"verdict":"maybe"}}`)).toMatchObject({ ok: false, kind: 'invalid' });
    const open = { type: 'object' };
    expect(await checkText(open, `{"${key}": {"a":1}}`)).toMatchObject({ value_text: `{"${key}": {"a":1}}` });
  });

  test('B045: a wrong value is invalid, with its issues and its text', async () => {
    const text = '{"$PARAMETER_NAME":"x"}';
    expect(await checkText(review, text)).toEqual({
      ok: false,
      kind: 'invalid',
      value_text: text,
      issues: [
        { pointer: '', message: 'missing required key "verdict"' },
        { pointer: '', message: 'unknown key "$PARAMETER_NAME" (allowed: "verdict", "id", "list")' },
      ],
    });
  });

  test('B049: bare words are malformed and the parse error is quoted', async () => {
    const result = await checkText(review, 'last 1.5 hours');
    expect(result).toMatchObject({ ok: false, kind: 'malformed' });
    expect(result.issues[0]?.message).toMatch(/^not valid JSON: Unexpected token.*; send the value only$/s);
    expect(result.value_text).toBeUndefined();
  });

  test('B047, B051: two values are invalid, a cut one is malformed, none is missing', async () => {
    expect(await checkText(review, '{"verdict":"pass"} or {"verdict":"fail"}')).toMatchObject({
      ok: false,
      kind: 'invalid',
    });
    expect(await checkText(review, '{"verdict":"pass","list":[1,2')).toMatchObject({ ok: false, kind: 'malformed' });
    expect(await checkText(review, '')).toMatchObject({ ok: false, kind: 'missing' });
  });

  test('data-05, data-08: keys that stand twice or set a prototype are refused', async () => {
    for (const text of ['{"verdict":"pass","verdict":"fail"}', '{"verdict":"pass","__proto__":{"p":1}}', '{"verdict":"pass","__proto\\u005f_":{"p":1}}', '{"verdict":"pass","id":1e999}']) {
      expect([text, (await checkText(review, text)).ok]).toEqual([text, false]);
      expect([text, (await checkText(true, text)).ok]).toEqual([text, false]);
    } // prettier-ignore
    expect(({} as { p?: number }).p).toBeUndefined();
  });

  test('B205: lone surrogate halves are replaced, also escaped ones', async () => {
    const result = await checkText({ type: 'object' }, String.raw`{"a":"\ud83d x \ud83d\ude00 \\ud83d"}`);
    expect(result.value_text).toBe(String.raw`{"a":"\ufffd x \ud83d\ude00 \\ud83d"}`);
  });

  test('B043: nothing deeper than the stack is accepted or thrown', async () => {
    expect(await checkText(true, `${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toMatchObject({ ok: false });
  });
});

describe('an output in a submit call', () => {
  test('is the input itself when the schema is a plain object', async () => {
    expect(await checkCall(review, '{"verdict":"pass"}')).toMatchObject({ ok: true, value_text: '{"verdict":"pass"}' });
    expect(await checkCall(review, '{"output":{"verdict":"pass"}}')).toMatchObject({
      ok: true,
      value_text: '{"verdict":"pass"}',
    });
    expect(await checkCall(review, '')).toMatchObject({ ok: false, kind: 'invalid' });
    expect(await checkCall(review, '{"verdict":')).toMatchObject({ ok: false, kind: 'malformed' });
  });

  test('B053: stands under "result" when the root is a union or no object', async () => {
    expect(await checkCall(union, '{"result": {"a": 1.0} }')).toMatchObject({ ok: true, value_text: '{"a": 1.0}' });
    expect(await checkCall(union, '{"result":[]}')).toMatchObject({ ok: true, value_text: '[]' });
    expect(await checkCall(union, '{"a":1}')).toMatchObject({ ok: true, value_text: '{"a":1}' });
    expect(await checkCall(union, '{"result":5}')).toMatchObject({ ok: false, kind: 'invalid', value_text: '5' });
    expect((await checkCall({ type: 'string' }, '{"x":1}')).issues[0]?.message).toContain(
      'missing required key "result"',
    );
  });
});

describe('the gate', () => {
  test('judges the value that was accepted', async () => {
    const gate = await gateFor(review, { gate: { properties: { verdict: { const: 'pass' } } } });
    expect(gate.has_gate).toBe(true);
    expect(await gate.gate('{"verdict":"pass"}')).toMatchObject({ ok: true, kind: 'valid' });
    expect(await gate.gate('{"verdict":"fail"}')).toMatchObject({
      ok: false,
      kind: 'invalid',
      issues: [{ pointer: '/verdict', message: 'must be "pass"; found "fail"' }],
    });
  });
});

describe('schemas that do not compile', () => {
  test('B067: are a usage error with file and pointer', async () => {
    const output = { schema: { type: 'objekt' }, schema_file: 'out.schema.json', repair_attempts: 2 };
    const error: unknown = await createGate(output, { prompts: 1, native: false }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ place: { file: 'out.schema.json', pointer: '/type' } });
    expect(String(error)).toContain('did you mean "object"?');
  });

  test('B065: what has no effect is a warning', async () => {
    const gate = await gateFor({ type: 'object', discriminator: { propertyName: 'k', mapping: {} } });
    expect(gate.warnings).toEqual(['output.schema: root: discriminator is ignored; oneOf or anyOf alone decides']);
  });
});
