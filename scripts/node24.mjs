// Runs the tests on Node 24, the Action's runtime, whatever Node runs this.
import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE24_BIN, node24 } from './node24-path.mjs';

const { status, error } = spawnSync(node24(), ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, PATH: `${NODE24_BIN}${delimiter}${process.env['PATH']}` },
});
if (error) console.error(`test:node24: Node 24 did not start: ${error.message}`);
process.exitCode = status ?? 1;
