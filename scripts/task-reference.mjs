// Writes docs/task-reference.md, every field of a task file, from the schema that checks tasks: `node scripts/task-reference.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const INTRO = `# Task file reference

<!-- Written by scripts/task-reference.mjs from schemas/task.schema.json. -->

Every field, as the schema has it that checks tasks; your editor shows the same where the task names it:
\`"$schema"\` in JSON, \`# yaml-language-server: $schema=…\` in YAML. How the parts work together:
[configuration](configuration.md). A field in **bold** is required.
`;

/** The whole page. */
export function taskReference() {
  const schema = JSON.parse(readFileSync(at('schemas/task.schema.json'), 'utf8'));
  return [INTRO, ...sections(schema, schema, { title: 'A task', level: 2 })].join('\n');
}

/** The section of an object and those of the objects inside it, each object once. */
function sections(root, node, { title, level, seen = new Set() }) {
  if (seen.has(node)) return [];
  seen.add(node);
  const rows = Object.entries(node.properties).map(([name, field]) => row(root, node, name, field));
  const heads = ['field', 'type', 'default', 'meaning', 'example'];
  const about = node.description ? [`${node.description}\n`] : [];
  const table = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const inner = Object.entries(node.properties).flatMap(([name, field]) => {
    const found = objectIn(root, field);
    const prefix = node === root ? '' : `${title.replaceAll('`', '')}.`;
    return found
      ? sections(root, found.node, { title: `\`${prefix}${name}${found.suffix}\``, level: level, seen })
      : [];
  });
  return [`${'#'.repeat(level)} ${title}\n`, ...about, ...table, '', ...inner];
}

/** The object with named fields that a field is, or holds as a list's item or a map's value. */
function objectIn(root, field, suffix = '') {
  const node = resolve(root, field);
  // A text that may stand in a file, or a schema of the task's own, is explained where it is named.
  const fields = Object.keys(node.properties ?? {});
  if (fields.length > 0) return fields.length > 1 ? { node, suffix } : false;
  const items = node.items && objectIn(root, node.items, `${suffix}[]`);
  if (items) return items;
  return typeof node.additionalProperties === 'object' && objectIn(root, node.additionalProperties, `${suffix}.NAME`);
}

function row(root, node, name, field) {
  const merged = merge(root, field);
  const shown = node.required?.includes(name) ? `**\`${name}\`**` : `\`${name}\``;
  const fallback = merged.default === undefined ? '' : code(merged.default);
  const [example] = merged.examples ?? [];
  return [
    shown,
    typeOf(root, merged),
    fallback,
    cell(merged.description ?? ''),
    example === undefined ? '' : code(example),
  ];
}

function typeOf(root, node) {
  const merged = merge(root, node);
  if (merged.enum) return merged.enum.map(code).join(', ');
  if (merged.const !== undefined) return code(merged.const);
  const types = [merged.type ?? (merged.properties ? 'object' : 'any')].flat();
  const item = merged.items && types.includes('array') ? ` of ${typeOf(root, merged.items)}` : '';
  return types.map((type) => (type === 'array' ? `list${item}` : type)).join(' or ');
}

/** A field with what the definition says that it names; the field's own words win. */
function merge(root, field) {
  const { $ref, ...own } = field;
  return $ref?.startsWith('#/') ? { ...merge(root, resolve(root, field)), ...own } : own;
}

function resolve(root, field) {
  if (!field.$ref?.startsWith('#/')) return field;
  return field.$ref
    .slice(2)
    .split('/')
    .reduce((node, key) => node[key], root);
}

function code(value) {
  return `\`${cell(typeof value === 'string' ? value : JSON.stringify(value))}\``;
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(at('docs/task-reference.md'), taskReference());
}
