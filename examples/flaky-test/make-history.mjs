import { makeHistory } from '../history.mjs';

const QUEUE = `export async function drain(jobs) {
  const done = [];
  await Promise.all(jobs.map(async (job) => done.push(await job())));
  return done;
}
`;
const TEST = `import assert from 'node:assert';
import { drain } from '../src/queue.js';

const wait = (ms, name) => () => new Promise((resolve) => setTimeout(resolve, ms, name));
// SEED makes a run repeatable; without it the delays differ from run to run.
const slow = Number(process.env.SEED ?? Math.random() * 4) % 2;
assert.deepEqual(await drain([wait(slow * 20, 'first'), wait(10, 'second')]), ['first', 'second']);
console.log('ok');
`;
const REPEAT = `import { spawnSync } from 'node:child_process';

const [file, times] = process.argv.slice(2);
const runs = Array.from({ length: Number(times) }, (_, seed) =>
  spawnSync('node', [file], { encoding: 'utf8', env: { ...process.env, SEED: String(seed) } }));
const failed = runs.filter((run) => run.status !== 0);
console.log(\`\${failed.length} of \${runs.length} runs failed\`);
if (failed.length > 0) console.log(failed[0].stderr.split('\\n').slice(0, 20).join('\\n'));
process.exit(failed.length > 0 ? 1 : 0);
`;

/** A queue whose test passes on some runs only. */
export default async function make(dir) {
  makeHistory(dir, [
    {
      message: 'Drain a queue',
      files: {
        'package.json': '{ "type": "module" }\n',
        'src/queue.js': QUEUE,
        'test/queue.test.js': TEST,
        'scripts/repeat.mjs': REPEAT,
      },
    },
  ]);
}
