import { makeHistory } from '../history.mjs';

const DOCS = `# Options

| option | meaning |
| --- | --- |
| \`--port N\` | where to listen (default: 8080) |
| \`--cache\` | keep answers in memory |
`;
const CODE = `export const OPTIONS = {
  port: { default: 9090 },
  quiet: { default: false },
};
`;
const CHECK = `import { readFileSync } from 'node:fs';
import { OPTIONS } from '../src/options.js';

const code = Object.keys(OPTIONS).sort().join();
const page = [...readFileSync('docs/options.md', 'utf8').matchAll(/\`--([a-z]+)/g)].map((match) => match[1]).sort().join();
if (code !== page) throw new Error(\`code has \${code}; page has \${page}\`);
`;

/** A program whose page about options was left behind by its code. */
export default async function make(dir) {
  const files = { 'docs/options.md': DOCS, 'src/options.js': CODE, 'scripts/check-options.mjs': CHECK };
  makeHistory(dir, [
    { message: 'Add --quiet, drop --cache', files: { ...files, 'package.json': '{ "type": "module" }\n' } },
  ]);
}
