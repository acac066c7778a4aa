import { makeHistory } from '../history.mjs';

const TEST = `import assert from 'node:assert';
import { slug } from '../src/slug.js';

assert.equal(slug('Hello World'), 'hello-world');
assert.equal(slug('  Trim me  '), 'trim-me');
console.log('2 assertions passed');
`;

/** A library whose last commit broke its test. */
export default async function make(dir) {
  const good = "export const slug = (text) => text.trim().toLowerCase().replaceAll(' ', '-');\n";
  const broken = "export const slug = (text) => text.toLowerCase().replaceAll(' ', '-');\n";
  makeHistory(dir, [
    {
      message: 'Make slugs',
      files: {
        'src/slug.js': good,
        'test/slug.test.js': TEST,
        'package.json': '{ "type": "module", "scripts": { "test": "node test/slug.test.js" } }\n',
      },
    },
    { message: 'Simplify slug', files: { 'src/slug.js': broken } },
  ]);
}
