// esbuild plugin: the validators of our own task schema as plain code instead of ajv and the schema to compile at start.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';
import { transform } from 'esbuild';

const SCHEMA = fileURLToPath(new URL('../schemas/task.schema.json', import.meta.url));
/** Says nothing about what is valid. */
const ANNOTATIONS = ['title', 'description', '$comment', 'default', 'examples'];
/** Keywords whose keys are names of a task, not keywords. */
const NAMED = ['properties', 'patternProperties', '$defs', 'dependentRequired', 'dependentSchemas'];

/** What the build puts in place of a source: its exports, made from compiled code. */
const MODULES = {
  'task-validator.ts': () => `${compiled(readSchema(), { allErrors: true, verbose: true })}
export const taskSchemaErrors = (value) => (validate(value) ? [] : (validate.errors ?? []));`,
  // Nearly every start runs this one, so it is as small as it gets.
  'task-check.ts': async () => {
    const options = { messages: false, inlineRefs: false };
    const source = compiled(bare(readSchema()), options).replace(
      /export const validate = (\w+);export default \w+;/,
      'export const isTask = $1;',
    );
    return (await transform(source, { minify: true, format: 'esm' })).code;
  },
};

function readSchema() {
  return JSON.parse(readFileSync(SCHEMA, 'utf8'));
}

/** Code with the export `validate`; the options besides are those of the source it replaces. */
function compiled(schema, options) {
  const ajv = new Ajv2020({ ...options, strict: false, code: { source: true, esm: true, lines: false } });
  formats.default(ajv);
  return standaloneCode.default(ajv, ajv.compile(schema));
}

/** The schema without what only people read. */
function bare(schema, named = false) {
  if (Array.isArray(schema)) return schema.map((item) => bare(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key]) => named || !ANNOTATIONS.includes(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, bare(value, NAMED.includes(key))]));
}

export const precompiledSchemas = {
  name: 'precompiled-schemas',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onLoad({ filter: /[/\\]src[/\\]core[/\\]task-(?:validator|check)\.ts$/ }, async ({ path }) => ({
      contents: await MODULES[path.replace(/^.*[/\\]/, '')](),
      loader: /** @type {const} */ ('js'),
      watchFiles: [SCHEMA],
    }));
  },
};
