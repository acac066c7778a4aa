// What the sandbox and the judge cost: medians in milliseconds. `node bench/sandbox.mjs [ROUNDS]`.
// Goals: at most 20 ms a call over a plain start, at most 2 ms a judged command. A measurement, not a test.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundleOptions, ROOT } from '../scripts/bundle-options.mjs';

const ENTRY = `
export { createSandbox } from './src/sandbox/bubblewrap.ts';
export { createBoundary } from './src/workspace/boundary.ts';
export { toolEnvironment } from './src/workspace/environment.ts';
export { createFiles } from './src/workspace/files.ts';
export { exec } from './src/workspace/exec.ts';
export { createPolicy } from './src/policy/policy.ts';
`;
const CONFIG = {
  mode: 'auto',
  network: false,
  env: [],
  read: [],
  write: ['.'],
  git_write: false,
  allow_untrusted: false,
};
const COMMAND =
  'git log --format=\'%h; %s\' -n 5 | sort | uniq -c > reports/a.log 2>&1 && npm test -- --silent; echo "exit: $?"';
const LIMITS = { max_output_bytes: 30_000, on_denied: 'continue' };
const RULES = [
  {
    name: 'bash',
    allow: ['git log *', 'sort *', 'uniq *', 'npm test *', 'echo *'],
    deny: ['git log --output*'],
    ...LIMITS,
  },
  { name: 'write_file', paths: ['reports/**'], ...LIMITS },
];
const rounds = Number(process.argv[2] ?? 50);

/** Medians of a number of rounds after one that is not counted, in milliseconds; in turns, so that a busy moment hits all. */
async function medians(...works) {
  const times = works.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, work] of works.entries()) {
      const began = performance.now();
      await work();
      if (round > 0) times[at].push(performance.now() - began);
    }
  }
  return times.map((each) => each.sort((a, b) => a - b)[Math.floor(each.length / 2)] ?? NaN);
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-run-bench-')));
try {
  const outfile = join(folder, 'parts.mjs');
  const { splitting: _splitting, ...options } = bundleOptions;
  await build({ ...options, stdin: { contents: ENTRY, resolveDir: ROOT, loader: 'ts' }, outfile });
  const parts = await import(pathToFileURL(outfile).href);
  const workspace = join(folder, 'ws');
  execFileSync('git', ['init', '-q', workspace]);
  writeFileSync(join(workspace, 'README.md'), 'hello\n');
  const home = join(folder, 'home');
  const env = parts.toolEnvironment({ source: process.env, names: [], home, workspace });
  const sandbox = parts.createSandbox({ config: CONFIG, workspace, hidden: [], locked: [], env, home });
  const run = (boundary) => () =>
    parts.exec(['/bin/sh', '-c', 'true'], { cwd: workspace, boundary, timeout_ms: 10_000, max_output_bytes: 30_000 });
  const plainBoundary = parts.createBoundary({ env, mode: 'off', detail: '' });
  const wrap = () => sandbox.wrap(['true'], workspace).release?.();
  const [plain, inside, profile] = await medians(run(plainBoundary), run(sandbox), wrap);
  sandbox.dispose();
  const policy = parts.createPolicy({
    rules: RULES,
    custom_tools: [],
    files: await parts.createFiles(workspace),
    protectedFiles: [],
  });
  const [judge] = await medians(() => policy.judge({ id: 'a', name: 'bash', input: { command: COMMAND } }));
  const rows = [
    ['plain start of a shell', plain],
    ['the same in the sandbox', inside],
    ['sandbox over plain (goal 20)', inside - plain],
    ['of that, the profile', profile],
    ['judge of a five-part command (goal 2)', judge],
  ];
  for (const [name, ms] of rows) process.stdout.write(`${name.padEnd(40)} ${ms.toFixed(2).padStart(8)} ms\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
