// Writes the tables of docs/ that are made from the source, so that a page cannot fall behind: `node scripts/docs-tables.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PAGE = fileURLToPath(new URL('../docs/exit-reasons.md', import.meta.url));
const BEGIN = '<!-- table: written by scripts/docs-tables.mjs -->';
const END = '<!-- end of table -->';

/** The table of all exit reasons, in the order of the records. */
export function exitReasonsTable({ EXIT_CODES, EXIT_TEXTS }) {
  const rows = Object.entries(EXIT_CODES).map(([reason, code]) => {
    const codes = typeof code === 'number' ? [code] : Object.values(code);
    const { meaning, advice } = EXIT_TEXTS[reason];
    return `| ${codes.join(', ')} | \`${reason}\` | ${meaning} | ${advice} |`;
  });
  return ['| code | reason | meaning | what to do |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** A page with the text between its marks replaced; the marks must be there. */
export function withTable(page, table) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page lacks the marks "${BEGIN}" and "${END}"`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${page.slice(end)}`;
}

async function loadRecords() {
  const contents = `export { EXIT_CODES } from './src/core/outcome.ts'; export { EXIT_TEXTS } from './src/run/exit-texts.ts';`;
  const stdin = { contents, resolveDir: fileURLToPath(new URL('..', import.meta.url)) };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', platform: 'node', write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), exitReasonsTable(await loadRecords())));
}
