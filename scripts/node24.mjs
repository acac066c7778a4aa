// Runs the tests on Node 24, the Action's runtime, whatever Node runs this: npm brings it into tools/node24.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = join(ROOT, 'tools/node24');
const BIN = join(TOOLS, 'node_modules/.bin');
const NODE = join(BIN, 'node');

if (!existsSync(NODE)) {
  const npm = process.env['npm_execpath'];
  if (npm) run(process.execPath, [npm, 'ci', '--prefix', TOOLS]);
  else run('npm', ['ci', '--prefix', TOOLS]);
}
run(NODE, ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)], {
  ...process.env,
  PATH: `${BIN}${delimiter}${process.env['PATH']}`,
});

function run(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', env });
  if (error) console.error(`test:node24: ${command} did not start: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
