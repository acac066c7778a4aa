import { expect, test } from 'vitest';
import { compileSchema } from '../../src/core/json-schema.ts';
import type { JsonValue } from '../../src/core/json.ts';

async function issuesOf(schema: unknown, value: JsonValue): Promise<string[]> {
  const compiled = await compileSchema(schema, { source: 'test.json' });
  return compiled.ok ? compiled.validate(value).map((issue) => `${issue.pointer}: ${issue.message}`) : ['no schema'];
}

const review = {
  type: 'object',
  required: ['summary', 'findings'],
  additionalProperties: false,
  properties: { summary: { type: 'string' }, findings: { type: 'array' } },
};

test('B045: missing and unknown keys are listed, with the allowed ones', async () => {
  expect(await issuesOf(review, { $PARAMETER_NAME: 'x', sumary: 'y' })).toEqual([
    ': missing required keys "summary", "findings"',
    ': unknown keys "$PARAMETER_NAME", "sumary" (allowed: "summary", "findings")',
  ]);
});

test('one unknown key is answered with the nearest allowed one', async () => {
  expect(await issuesOf(review, { sumary: 'y', findings: [] })).toEqual([
    ': missing required key "summary"',
    ': unknown key "sumary" (allowed: "summary", "findings"); did you mean "summary"?',
  ]);
});

test.each<[string, unknown, JsonValue, string]>([
  ['a type', { type: ['string', 'null'] }, [1, 2], ': must be string or null; found a list of 2'],
  [
    'an enum',
    { enum: ['high', 'low'] },
    'higgh',
    ': must be one of "high", "low"; found "higgh"; did you mean "high"?',
  ],
  ['a const', { const: { a: 1 } }, { b: 1 }, ': must be an object with 1 keys; found an object with 1 keys'],
  ['a format', { format: 'date' }, 'x', ': must be a valid date (like "2026-01-31"); found "x"'],
  ['a pattern', { pattern: '^a' }, 'x', ': must match the pattern ^a; found "x"'],
  ['a range', { maximum: 5 }, 7, ': must be <= 5; found 7'],
  ['a length', { minItems: 2 }, [1], ': must NOT have fewer than 2 items'],
  ['a false schema', { properties: { a: false } }, { a: 1 }, '/a: is not allowed here'],
  ['equal items', { uniqueItems: true }, [1, 2, 1], ': items 0 and 2 are equal; all must differ'],
  [
    'two matching shapes',
    { oneOf: [{ type: 'number' }, { minimum: 0 }] },
    1,
    ': matches more than one shape in oneOf (0 and 1); exactly one must match',
  ],
  ['a dependent key', { dependencies: { a: ['b', 'c'] } }, { a: 1 }, ': "a" needs keys "b", "c" beside it'],
])('%s is worded with what was expected and what was found', async (_what, schema, value, issue) => {
  expect(await issuesOf(schema, value)).toEqual([issue]);
});

test('a condition is reported by the rule it leads to', async () => {
  const schema: unknown = JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}');
  expect(await issuesOf(schema, { a: 1 })).toEqual([': missing required key "b"']);
});

test('pointers escape keys, and long values are shortened without splitting a code point', async () => {
  const [issue] = await issuesOf({ properties: { 'a/b~c': { type: 'number' } } }, { 'a/b~c': '😀'.repeat(100) });
  expect(issue).toMatch(/^\/a~1b~0c: must be number; found "(😀)+\uFFFD?…$/);
});

test('no more than twenty issues are listed', async () => {
  const issues = await issuesOf(
    { items: { type: 'string' } },
    Array.from({ length: 50 }, (_, index) => index),
  );
  expect(issues).toHaveLength(21);
  expect(issues.at(-1)).toBe(': and 30 more issues');
});
