import { makeHistory } from '../history.mjs';

/** A library whose branch changes what users see, and says so in its changelog. */
export default async function make(dir) {
  const log = '# Changelog\n\n## 1.2.0\n\n- Reads YAML.\n';
  makeHistory(dir, [
    { message: 'Read YAML', files: { 'CHANGELOG.md': log, 'src/parse.js': 'export const parse = (text) => text;\n' } },
    {
      branch: 'strict',
      message: 'Refuse duplicate keys',
      files: {
        'CHANGELOG.md': log.replace('## 1.2.0', '## Next\n\n- Duplicate keys are an error.\n\n## 1.2.0'),
        'src/parse.js':
          "export const parse = (text) => {\n  if (text === 'a: 1\\na: 2') throw new Error('duplicate key');\n  return text;\n};\n",
      },
    },
  ]);
}
