import { makeHistory } from '../history.mjs';

export const ARGS = ['--input', 'version=v1.1.0'];

/** A tool with one release and three commits after it. */
export default async function make(dir) {
  makeHistory(dir, [
    { message: 'Start the tool', files: { 'tool.js': "console.log('hello');\n" }, tag: 'v1.0.0' },
    {
      message: 'feat: read the name from the first argument',
      files: { 'tool.js': 'console.log(`hello ${process.argv[2]}`);\n' },
    },
    {
      message: 'fix: greet the world without an argument',
      files: { 'tool.js': "console.log(`hello ${process.argv[2] ?? 'world'}`);\n" },
    },
    { message: 'docs: say how to call it', files: { 'README.md': '# Tool\n\nnode tool.js NAME\n' } },
  ]);
}
