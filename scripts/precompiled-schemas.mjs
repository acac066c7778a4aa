// esbuild plugin: the validator of our own task schema as plain code instead of ajv and the schema to compile at start.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';

const SCHEMA = fileURLToPath(new URL('../schemas/task.schema.json', import.meta.url));

/** Code of a module with the exports of src/core/task-validator.ts, whose options these are. */
function validatorCode() {
  const code = { source: true, esm: true, lines: false };
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false, code });
  formats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(SCHEMA, 'utf8')));
  return `${standaloneCode.default(ajv, validate)}
export const taskSchemaErrors = (value) => (validate(value) ? [] : (validate.errors ?? []));`;
}

export const precompiledSchemas = {
  name: 'precompiled-schemas',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onLoad({ filter: /[/\\]src[/\\]core[/\\]task-validator\.ts$/ }, () => ({
      contents: validatorCode(),
      loader: /** @type {const} */ ('js'),
      watchFiles: [SCHEMA],
    }));
  },
};
