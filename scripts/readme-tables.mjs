// Writes the tables of README and docs from what they describe: action.yml, the task schema, the options and the exit
// codes. `--check` writes nothing and fails when a table is out of step. A table stands between two comments:
// <!-- table: NAME --> and <!-- end -->.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BLOCK = /(<!-- table: ([a-z-]+) -->\n)[^]*?(<!-- end -->)/g;

const CODE_MEANINGS = {
  0: 'success',
  1: 'a bug in agent-run, or the machine failed',
  2: "the caller's mistake: flags, task, schema, missing input, no credentials",
  3: 'no valid output',
  4: 'a limit ended it',
  5: 'the policy ended it',
  6: 'the model service failed',
  7: 'the model refused',
  8: 'a verify command still fails',
  9: 'the output is valid and the gate says no',
  '129, 130, 143': 'SIGHUP, SIGINT, SIGTERM',
};

/** Every page with its tables rendered anew: path below the repository to text. Throws for an unknown table. */
export async function renderPages() {
  const tables = await makeTables();
  const pages = [
    'README.md',
    ...readdirSync(join(ROOT, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];
  return new Map(
    pages.map((page) => {
      const text = readFileSync(join(ROOT, page), 'utf8');
      const rendered = text.replace(BLOCK, (_, start, name, end) => {
        if (!tables[name])
          throw new Error(`${page}: there is no table "${name}"; known are ${Object.keys(tables).join(', ')}`);
        return `${start}${tables[name]}\n${end}`;
      });
      return [page, rendered];
    }),
  );
}

async function makeTables() {
  const action = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'));
  const schema = JSON.parse(readFileSync(join(ROOT, 'schemas/task.schema.json'), 'utf8'));
  const { EXIT_CODES } = await importSource('src/core/outcome.ts');
  const { PROMPTS } = await importSource('src/core/prompt-names.ts');
  const { DEFAULTS } = await importSource('src/prompts/defaults.ts');
  const { OPTIONS, BATCH_OPTIONS } = await importSource('src/config/options.ts');
  return {
    'action-inputs': table(['input', 'default', 'meaning'], Object.entries(action.inputs).map(inputRow)),
    'action-outputs': table(
      ['output', 'meaning'],
      Object.entries(action.outputs).map(([name, { description }]) => [code(name), description]),
    ),
    prompts: table(['name', 'what it is for', 'variables'], Object.entries(PROMPTS).map(promptRow)),
    'prompt-defaults': Object.entries(PROMPTS)
      .map((entry) => promptDefault(entry, DEFAULTS))
      .join('\n\n'),
    'exit-codes': table(['code', 'meaning', '`exit_reason`'], codeRows(EXIT_CODES)),
    'hostile-values': await hostileTable(),
    limits: table(['limit', 'default', 'meaning'], fieldRows(schema, schema.$defs.limits.properties)),
    options: table(['option', 'meaning'], Object.entries(OPTIONS).map(optionRow)),
    'batch-options': table(['option', 'meaning'], Object.entries(BATCH_OPTIONS).map(optionRow)),
    'task-fields': table(
      ['field', 'meaning'],
      fieldRows(schema, schema.properties).map(([name, , meaning]) => [name, meaning]),
    ),
  };
}

/** Loads a TypeScript file with what it imports; Node 20 cannot by itself. */
async function importSource(path) {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, path)],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** Texts that a test gives a run, and what its files hold of them. */
async function hostileTable() {
  const { HOSTILE, inAnnotation, inLog, inMarkdown } = await importSource('test/helpers/hostile-values.ts');
  const { markdownInlineCode } = await importSource('src/core/sanitise.ts');
  const rows = HOSTILE.map(([what, value]) => [
    what,
    ...[value, inMarkdown(value), inAnnotation(value), inLog(value)].map((text) => rawCell(markdownInlineCode(text))),
  ]);
  return table(['it tries', 'value', 'summary and comment', 'annotation', 'log'], rows);
}

/** A text in which the bars are escaped already. */
function rawCell(text) {
  return text.replaceAll('\\|', '|');
}

function inputRow([name, { description, default: fallback, required }]) {
  return [
    code(name),
    required ? 'required' : fallback === undefined || fallback === '' ? '' : code(fallback),
    description,
  ];
}

function codeRows(codes) {
  const reasonsOf = (key) =>
    Object.entries(codes)
      .filter(([, value]) => (typeof value === 'number' ? String(value) : Object.values(value).join(', ')) === key)
      .map(([reason]) => code(reason));
  return Object.entries(CODE_MEANINGS).map(([key, meaning]) => [key, meaning, reasonsOf(key).join(', ')]);
}

function fieldRows(schema, properties) {
  return Object.entries(properties).map(([name, field]) => {
    const shared = field.$ref?.startsWith('#/$defs/') ? schema.$defs[field.$ref.slice('#/$defs/'.length)] : {};
    const { description, default: fallback } = { ...shared, ...field };
    return [code(name), fallback === undefined ? '' : code(fallback === null ? 'null' : String(fallback)), description];
  });
}

function optionRow([name, { describe, value, choices }]) {
  const shown = value ?? choices?.join('|');
  return [code(`--${name}${shown ? ` ${shown}` : ''}`), describe];
}

function promptRow([name, { about, variables }]) {
  const told = Object.entries(variables).map(([variable, meaning]) => `${code(variable)}: ${meaning}`);
  return [code(name), about, told.join('; ')];
}

/** What is said by default, with the first of the sample values. */
function promptDefault([name, { samples }], defaults) {
  return `${code(name)}\n\n\`\`\`text\n${defaults[name](samples[0])}\n\`\`\``;
}

function table(heads, rows) {
  const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ').trim();
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text) {
  return `\`${text}\``;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [page, text] of await renderPages()) {
    if (readFileSync(join(ROOT, page), 'utf8') === text) continue;
    if (process.argv.includes('--check')) {
      console.error(`${page}: a table is out of step; run node scripts/readme-tables.mjs`);
      process.exitCode = 1;
    } else writeFileSync(join(ROOT, page), text);
  }
}
