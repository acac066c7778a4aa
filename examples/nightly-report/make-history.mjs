import { makeHistory } from '../history.mjs';

export const ARGS = ['--input', 'since=v1.0.0'];

/** A project with a tag and the work after it. */
export default async function make(dir) {
  makeHistory(dir, [
    { message: 'Release 1.0.0', files: { 'src/app.js': 'export const limit = 10;\n' }, tag: 'v1.0.0' },
    { message: 'Raise the limit to 20', files: { 'src/app.js': 'export const limit = 20;\n' } },
    {
      message: 'Add a queue',
      files: { 'src/queue.js': '// TODO: drop the oldest entry when full\nexport const queue = [];\n' },
    },
  ]);
}
