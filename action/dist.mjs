// Builds dist/ where a ref holds none, from the sources beside it and the packages that the lock file pins. No
// dependency of its own: it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What installing and building may see: nothing of the step's secrets, since others wrote the packages. */
const PASSED =
  /^(?:PATH|HOME|USERPROFILE|SYSTEMROOT|COMSPEC|TMPDIR|TEMP|TMP|LANG|NODE_EXTRA_CA_CERTS|(?:https?|no)_proxy|npm_config_(?!_).*)$/i;
const PATIENCE_MS = 10 * 60_000;

export function distFile(name) {
  return join(ROOT, 'dist', name);
}

/** Makes sure that a file of dist can be loaded; undefined, or a sentence that says why it cannot. */
export function ensureDist(name) {
  if (isBuilt(name)) return undefined;
  if (!existsSync(join(ROOT, 'build.mjs')))
    return `${distFile(name)} is missing, and there are no sources to build it from; use a version tag`;
  const began = performance.now();
  console.error('agent-run: this ref holds no dist/, so it is installed and built now; a version tag starts at once');
  const install = [
    ...npm(),
    'ci',
    '--include=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-progress',
    '--fetch-retry-maxtimeout=15000',
  ];
  const problem =
    run('installing the packages of package-lock.json', install) ??
    run('building dist/', [process.execPath, 'build.mjs']);
  if (problem !== undefined) {
    // Half a build must not be taken for one by the next step of the job.
    rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
    return problem;
  }
  console.error(`agent-run: installed and built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return undefined;
}

/** A build ends with its record, which a package leaves out together with the sources. */
function isBuilt(name) {
  return existsSync(distFile(name)) && (existsSync(distFile('meta.json')) || !existsSync(join(ROOT, 'build.mjs')));
}

/** npm as it runs this, else beside the Node that does, else on PATH; and what stands before its arguments. */
function npm() {
  const own = process.env['npm_execpath'];
  if (own) return [process.execPath, own];
  const name = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const beside = join(dirname(process.execPath), name);
  return [existsSync(beside) ? beside : name];
}

function run(what, [command, ...args]) {
  const kept = Object.entries(process.env).filter(([name]) => PASSED.test(name));
  const env = Object.fromEntries(kept);
  // npm starts whatever `node` it finds first.
  env['PATH'] = `${dirname(process.execPath)}${delimiter}${env['PATH'] ?? ''}`;
  const { status, signal, error } = spawnSync(command, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 2, 2],
    timeout: PATIENCE_MS,
    shell: process.platform === 'win32' && command.endsWith('.cmd'),
  });
  if (status === 0) return undefined;
  const code = error && 'code' in error ? error.code : undefined;
  const how =
    code === 'ENOENT'
      ? `${command} was not found`
      : code === 'ETIMEDOUT'
        ? `it took longer than ${PATIENCE_MS / 60_000} minutes`
        : `${command} ended with ${signal ?? status}; its own words stand above`;
  return `${what} failed: ${how}. A ref without dist/ needs npm and its registry once; use a version tag, which holds dist/`;
}
