// Runs the action's TypeScript through GitHub's own local-action, a second opinion on what a step reads and writes. npm
// brings it into tools/local-action (330 MB), so the check leaves it out where it is not there.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = join(ROOT, 'tools/local-action');

if (!existsSync(join(TOOLS, 'node_modules/.bin/tsx'))) {
  const npm = process.env['npm_execpath'];
  const args = ['ci', '--ignore-scripts', '--prefix', TOOLS];
  if (npm) run(process.execPath, [npm, ...args]);
  else run('npm', args);
}
if (!process.argv.includes('--install')) {
  run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/action/local-action.test.ts']);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error) console.error(`test:local-action: ${command} did not start: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
