import type Core from 'ajv/dist/core.js';
import type { Options } from 'ajv';
import { isMultipleOf } from './decimal.ts';
import { loadMetaschema } from './metaschema.ts';

/** The drafts we know, by the one name their users know them by. */
export type DialectName = 'draft-07' | '2019-09' | '2020-12';

const ADDRESSES: Record<DialectName, string> = {
  'draft-07': 'http://json-schema.org/draft-07/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
};

export interface Dialect {
  name: DialectName;
  ajv: Core.default;
  /** The metaschema accepts a schema for sure; false: ajv has to look. Patterns are not judged. */
  accepts(schema: unknown): boolean;
  /** What ajv remarked since the last call. */
  takeRemarks(): string[];
}

/** The draft a `$schema` value names; without one it is draft-07. Undefined for anything else. */
export function dialectName(address: unknown): DialectName | undefined {
  if (address === undefined) return 'draft-07';
  if (typeof address !== 'string') return undefined;
  const plain = address.replace(/^https:/, 'http:').replace(/#$/, '');
  const names: DialectName[] = ['draft-07', '2019-09', '2020-12'];
  return names.find((name) => ADDRESSES[name].replace(/^https:/, 'http:') === plain);
}

/** The addresses that `$schema` may name, for messages. */
export function dialectAddresses(): string[] {
  return Object.values(ADDRESSES);
}

/** Compiles with the u flag, and without it where that is a syntax error (`\-`); throws when it is one both ways. */
export function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern); // a SyntaxError of the u flag only: many patterns in use escape more than it allows
  }
}

const loaded = new Map<DialectName, Promise<Dialect>>();

/** The validator of a draft, made once; loading ajv costs some 50 ms, so nobody else does. */
export function loadDialect(name: DialectName): Promise<Dialect> {
  const dialect = loaded.get(name) ?? makeDialect(name);
  loaded.set(name, dialect);
  return dialect;
}

/** Forgets a validator whose work was cut off in the middle. */
export function dropDialect(name: DialectName): void {
  loaded.delete(name);
}

async function makeDialect(name: DialectName): Promise<Dialect> {
  const remarks: string[] = [];
  const ajv = await makeAjv(
    name,
    options((remark) => remarks.push(remark)),
  );
  const formats = await import('./ajv-formats.ts');
  formats.addFormats(ajv);
  ajv.addFormat('regex', isPattern);
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (step: number, value: number) => isMultipleOf(value, step),
  });
  return { name, ajv, accepts: await loadMetaschema(name), takeRemarks: () => remarks.splice(0) };
}

async function makeAjv(name: DialectName, settings: Options): Promise<Core.default> {
  switch (name) {
    case 'draft-07':
      return new (await import('./ajv-draft-07.ts')).Ajv(settings);
    case '2019-09':
      return new (await import('./ajv-2019-09.ts')).Ajv2019(settings);
    case '2020-12':
      return new (await import('./ajv-2020-12.ts')).Ajv2020(settings);
  }
}

function options(remark: (text: string) => void): Options {
  return {
    allErrors: true,
    strict: false,
    strictNumbers: true, // `strict: false` alone would let Infinity pass as a number
    ownProperties: true, // else `required: ["constructor"]` is met by every object
    verbose: true,
    addUsedSchema: false, // two schemas with one $id must not meet
    validateSchema: false, // done by hand, with our words
    logger: { log: remark, warn: remark, error: remark },
    code: { regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: 'compilePattern' }) },
  };
}

function isPattern(text: string): boolean {
  try {
    compilePattern(text);
    return true;
  } catch {
    return false; // a SyntaxError is the answer
  }
}
