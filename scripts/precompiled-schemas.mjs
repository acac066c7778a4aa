// esbuild plugin: the validators of our own task schema as plain code instead of ajv and the schema to compile at start.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';
import { transform } from 'esbuild';

const SCHEMA = fileURLToPath(new URL('../schemas/task.schema.json', import.meta.url));
/** Says nothing about what is valid. */
const ANNOTATIONS = ['title', 'description', '$comment', 'default', 'examples'];
/** Keywords whose keys are names of a task, not keywords. */
const NAMED = ['properties', 'patternProperties', '$defs', 'dependentRequired', 'dependentSchemas'];

const EXPORTS = /export const validate = (\w+);export default \w+;/;

/** What the build puts in place of a source: its exports, made from compiled code. */
const MODULES = {
  'task-validator.ts': () => `${compiled(readSchema(), { allErrors: true, verbose: true })}
export const taskSchemaErrors = (value) => (validate(value) ? [] : (validate.errors ?? []));`,
  // Nearly every start runs this one, so it is as small as it gets.
  'task-check.ts': async () => {
    const options = { messages: false, inlineRefs: false };
    const source = compiled(bare(readSchema()), options).replace(EXPORTS, 'export const isTask = $1;');
    return (await transform(source, { minify: true, format: 'esm' })).code;
  },
  'metaschema-draft-07.ts': () => metaschema(new Ajv(META)),
  'metaschema-2019-09.ts': () => metaschema(new Ajv2019(META)),
  'metaschema-2020-12.ts': () => metaschema(new Ajv2020(META)),
};

/** Options of `src/core/schema-dialects.ts` as far as they decide what is accepted. */
const META = {
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  messages: false,
  inlineRefs: false,
  code: { source: true, esm: true, lines: false },
};

/** The metaschema that a validator knows as its draft's, without a look at patterns: those are checked before. */
async function metaschema(ajv) {
  formats.default(ajv);
  ajv.addFormat('regex', true);
  const address = ajv.defaultMeta();
  const source = standaloneCode.default(ajv, ajv.getSchema(address)).replace(EXPORTS, 'export const accepts = $1;');
  return (await transform(source, { minify: true, format: 'esm' })).code;
}

function readSchema() {
  return JSON.parse(readFileSync(SCHEMA, 'utf8'));
}

/** Code with the export `validate`; the options besides are those of the source it replaces. */
function compiled(schema, options) {
  const ajv = new Ajv2020({ ...options, strict: false, code: { source: true, esm: true, lines: false } });
  formats.default(ajv);
  return standaloneCode.default(ajv, ajv.compile(schema));
}

/** The schema without what only people read, and without formats: their code is not worth it, so such a value is refused. */
function bare(schema, named = false) {
  if (Array.isArray(schema)) return schema.map((item) => bare(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  if (!named && typeof schema.format === 'string') return false;
  const kept = Object.entries(schema).filter(([key]) => named || !ANNOTATIONS.includes(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, bare(value, NAMED.includes(key))]));
}

export const precompiledSchemas = {
  name: 'precompiled-schemas',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onLoad(
      { filter: /[/\\]src[/\\]core[/\\](?:task-(?:validator|check)|metaschema-.*)\.ts$/ },
      async ({ path }) => ({
        contents: await MODULES[path.replace(/^.*[/\\]/, '')](),
        loader: /** @type {const} */ ('js'),
        watchFiles: [SCHEMA],
      }),
    );
  },
};
