import { describe, expect, test } from 'vitest';
import { compileSchema } from '../../src/core/json-schema.ts';
import type { JsonValue } from '../../src/core/json.ts';

async function issuesOf(schema: unknown, value: JsonValue): Promise<string[]> {
  const compiled = await compileSchema(schema, { source: 'test.json' });
  if (!compiled.ok) throw new Error(`does not compile: ${JSON.stringify(compiled.issues)}`);
  return compiled.validate(value).map((issue) => `${issue.pointer}: ${issue.message}`);
}

async function refusalOf(schema: unknown): Promise<string[]> {
  const compiled = await compileSchema(schema, { source: 'test.json' });
  return compiled.ok ? [] : compiled.issues.map((issue) => `${issue.pointer}: ${issue.message}`);
}

async function warningsOf(schema: unknown): Promise<string[]> {
  const compiled = await compileSchema(schema, { source: 'test.json' });
  return compiled.ok ? compiled.warnings : ['does not compile'];
}

const DRAFTS = [
  undefined,
  'http://json-schema.org/draft-07/schema#',
  'https://json-schema.org/draft/2019-09/schema',
  'https://json-schema.org/draft/2020-12/schema',
];
const dialect = (address: string | undefined): object => (address === undefined ? {} : { $schema: address });

describe('drafts', () => {
  test.each(DRAFTS)('B057: a schema of %s validates', async (address) => {
    const schema = { ...dialect(address), type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
    expect(await issuesOf(schema, { a: 1 })).toEqual([]);
    expect(await issuesOf(schema, { a: 'x' })).toEqual(['/a: must be integer; found "x"']);
  });

  test('B057: keywords of 2020-12 work there, and are warned about in draft-07', async () => {
    const schema = { type: 'array', prefixItems: [{ type: 'string' }] };
    expect(await issuesOf({ ...schema, $schema: DRAFTS[3] }, [1])).toEqual(['/0: must be string; found 1']);
    expect(await warningsOf(schema)).toEqual([
      'test.json: root: "prefixItems" has no effect in draft-07; say "$schema" for 2020-12',
    ]);
  });

  test.each([['http://json-schema.org/draft-04/schema#'], ['https://example.com/own'], [5]])(
    'B057: any other $schema (%s) is refused and named',
    async (address) => {
      const [first] = await refusalOf({ $schema: address });
      expect(first).toContain(`/$schema: unknown schema version ${JSON.stringify(address)}`);
    },
  );

  test('two schemas with one $id do not meet', async () => {
    const named = (type: string) => ({
      $id: 'https://example.com/a.json',
      $ref: '#/definitions/n',
      definitions: { n: { type } },
    });
    expect(await issuesOf(named('string'), 'x')).toEqual([]);
    expect(await issuesOf(named('number'), 'x')).toHaveLength(1);
  });
});

describe('formats, patterns and numbers', () => {
  test.each(DRAFTS)('B059: formats are asserted in %s', async (address) => {
    const bad: [string, string][] = [
      ['date-time', 'yesterday'], ['date', '2026-13-01'], ['time', '25:00:00Z'], ['email', 'a'], ['uri', 'a b'], ['uri-reference', '\\'],
      ['uuid', '1'], ['ipv4', '1.2.3'], ['ipv6', ':::'], ['hostname', '-a'], ['regex', '('], ['json-pointer', 'a'], ['duration', '1h'],
    ]; // prettier-ignore
    for (const [format, value] of bad) {
      expect([format, (await issuesOf({ ...dialect(address), type: 'string', format }, value)).length]).toEqual([
        format,
        1,
      ]);
    }
  });

  test('an unknown format is a warning with its place', async () => {
    expect(await warningsOf({ properties: { a: { format: 'wat' } } })).toEqual([
      'test.json: /properties/a: the format "wat" is not known and not checked',
    ]);
  });

  test.each(DRAFTS)('B061: a pattern that the u flag refuses works without it in %s', async (address) => {
    const schema = { ...dialect(address), type: 'string', pattern: String.raw`^\d{4}\-\d{2}$` };
    expect(await issuesOf(schema, '2026-11')).toEqual([]);
    expect(await issuesOf(schema, '2026')).toHaveLength(1);
  });

  test('B061: a pattern uses the u flag where it can', async () => {
    expect(await issuesOf({ type: 'string', pattern: '^.$' }, '😀')).toEqual([]);
  });

  test('B061: a pattern bad both ways is refused with its pointer', async () => {
    const refusal = await refusalOf({ properties: { a: { pattern: '(' } }, patternProperties: { '[': {} } });
    expect(refusal.map((line) => line.split(':')[0])).toEqual(['/patternProperties/[', '/properties/a/pattern']);
    expect(refusal[0]).toContain('Invalid regular expression');
  });

  test('B063: multipleOf counts in decimals', async () => {
    const schema = { type: 'number', multipleOf: 0.01 };
    for (const value of [1.11, 143.48, 8.69, 0, -2.5, 1e21]) expect(await issuesOf(schema, value)).toEqual([]);
    expect(await issuesOf(schema, 1.115)).toEqual([': must be a multiple of 0.01; found 1.115']);
    expect(await issuesOf({ multipleOf: 7 }, 21)).toEqual([]);
    expect(await issuesOf({ multipleOf: 1e-7 }, 3e-7)).toEqual([]);
  });

  test('a number that is not finite is no number', async () => {
    expect(await issuesOf({ type: 'number' }, Number.POSITIVE_INFINITY)).toEqual([': must be number; found Infinity']);
  });
});

describe('schemas that are refused', () => {
  test('B067: an unknown type is named with its place and the nearest one', async () => {
    const refusal = await refusalOf({ properties: { a: { type: 'objekt' } } });
    expect(refusal).toHaveLength(1);
    expect(refusal[0]).toMatch(/^\/properties\/a\/type: must be one of .*; found "objekt"; did you mean "object"\?$/);
  });

  test('B067: a reference to nothing is named with its place', async () => {
    expect(await refusalOf({ properties: { a: { $ref: '#/$defs/none' } } })).toEqual([
      '/properties/a/$ref: "#/$defs/none" points at nothing in this schema',
    ]);
  });

  test.each(['http://127.0.0.1:9/s.json', 'file:///etc/passwd', 'other.json'])(
    'data-01, data-02: the reference %s is not followed',
    async (reference) => {
      const [first] = await refusalOf({ $ref: reference });
      expect(first).toContain(`/$ref: "${reference}" is not part of this schema`);
      expect(await refusalOf({ $id: 'https://example.com/x', $ref: reference })).toHaveLength(1);
    },
  );

  test.each([
    [{ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }],
    [{ $ref: '#' }],
    [{ definitions: { a: { anyOf: [{ type: 'string' }, { $ref: '#/definitions/a' }] } } }],
  ])('data-03: references that only lead to each other are refused: %j', async (schema) => {
    const refusal = await refusalOf(schema);
    expect(refusal).toHaveLength(1);
    expect(refusal[0]).toContain('only lead to each other');
  });

  test('a schema above the size limit, one nested without end and one of another type are refused', async () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 30_000; level += 1) deep = { not: deep };
    expect(await refusalOf({ description: 'x'.repeat(600_000) })).toEqual([
      ': the schema has 600018 bytes; the limit is 524288',
    ]);
    expect(await refusalOf(deep)).toEqual([': the schema is nested too deeply']);
    expect(await refusalOf('x')).toEqual([': a schema is an object, true or false; found "x"']);
  });

  test('a misspelt keyword is a warning', async () => {
    expect(await warningsOf({ type: 'object', requierd: ['a'], properties: { requierd: {} } })).toEqual([
      'test.json: root: unknown keyword "requierd" has no effect; did you mean "required"?',
    ]);
  });

  test('B065: a discriminator with mapping is a warning and oneOf still decides', async () => {
    const shape = (kind: string) => ({ type: 'object', properties: { kind: { const: kind } }, required: ['kind'] });
    const schema = {
      oneOf: [{ $ref: '#/definitions/a' }, { $ref: '#/definitions/b' }],
      discriminator: { propertyName: 'kind', mapping: { a: '#/definitions/a' } },
      definitions: { a: shape('a'), b: shape('b') },
    };
    expect(await warningsOf(schema)).toEqual([
      'test.json: root: discriminator is ignored; oneOf or anyOf alone decides',
    ]);
    expect(await issuesOf(schema, { kind: 'a' })).toEqual([]);
    expect(await issuesOf(schema, { kind: 'c' })).toContain(': matches none of the shapes in oneOf');
  });
});

describe('validation always ends', () => {
  test('data-04: a catastrophic pattern is an issue after its time limit', async () => {
    const compiled = await compileSchema({ type: 'string', pattern: '^(a+)+$' }, { source: 's', time_limit_ms: 200 });
    const issues = compiled.ok ? compiled.validate(`${'a'.repeat(40)}!`) : [];
    expect(issues.map((issue) => issue.message)).toEqual([
      "could not be checked within 200 ms: send a shorter value, or make the schema's patterns simpler",
    ]);
    expect(compiled.ok && compiled.validate('aaa')).toEqual([]);
  });

  test('a value that is quadratic to check is an issue after its time limit', async () => {
    const compiled = await compileSchema({ uniqueItems: true }, { source: 's', time_limit_ms: 200 });
    const value = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(compiled.ok && compiled.validate(value)).toHaveLength(1);
  });

  test('data-06: a recursive type works, and a value deeper than the stack is an issue', async () => {
    const schema = {
      $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } } } },
      $ref: '#/$defs/n',
    };
    let deep: JsonValue = {};
    for (let level = 0; level < 50_000; level += 1) deep = { next: deep };
    expect(await issuesOf(schema, { next: { next: {} } })).toEqual([]);
    expect(await issuesOf(schema, { next: { next: 1 } })).toEqual(['/next/next: must be object; found 1']);
    expect(await issuesOf(schema, deep)).toEqual([': the value is nested too deeply to be checked']);
  });
});
