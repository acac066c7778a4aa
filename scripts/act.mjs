// Runs whole workflows through act, without containers, on this machine. Go builds it into tools/act, so the check leaves
// it out where it is not there.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GOBIN = join(ROOT, 'tools/act');
const VERSION = 'v0.2.89';

if (!existsSync(join(GOBIN, 'act'))) {
  console.error(`test:act: go install github.com/nektos/act@${VERSION}`);
  run('go', ['install', `github.com/nektos/act@${VERSION}`], { ...process.env, GOBIN });
}
if (!process.argv.includes('--build')) {
  run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/action/act.test.ts']);
}

function run(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', env });
  if (error) console.error(`test:act: ${command} did not start: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
