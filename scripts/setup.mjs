// Makes a clone ready to use, and does nothing where it is: installs when node_modules differs from the lock file,
// and with --build bundles when a source is newer than dist. Writes to stderr only, so stdout stays the caller's.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILD_INPUTS = ['src', 'schemas', 'scripts', 'build.mjs', 'package.json', 'package-lock.json'];

requireNode();
if (!installed()) {
  // Without --include=dev an inherited NODE_ENV=production would leave out the compiler.
  const npm = process.env['npm_execpath'];
  const args = ['ci', '--include=dev'];
  if (npm) run(process.execPath, [npm, ...args]);
  else run('npm', args, { shell: process.platform === 'win32' });
}
if (process.argv.includes('--build') && !built()) run(process.execPath, ['build.mjs']);

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22) return;
  console.error(
    `setup: Node ${process.versions.node} is not supported; install Node 20.19 or later, or 22.12 or later`,
  );
  process.exit(1);
}

function run(command, args, options = {}) {
  console.error(`setup: ${args.includes('ci') ? 'npm ci' : 'build'}`);
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], ...options });
  if (error) console.error(`setup: ${command} did not start: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** True when node_modules holds what the lock file asks for; npm writes its own record last, so a cut install has none. */
function installed() {
  const wanted = readJson('package-lock.json').packages;
  const present = readJson('node_modules/.package-lock.json')?.packages;
  if (!present || !sameDependencies(wanted[''], readJson('package.json'))) return false;
  const missing = ([path, entry]) => {
    if (path === '') return false;
    const there = present[path];
    return there ? there.integrity !== entry.integrity : !entry.optional; // optional: binaries of other platforms
  };
  return !Object.entries(wanted).some(missing) && Object.keys(present).every((path) => path in wanted);
}

/** True when the lock file was made from this package.json; if not, npm ci says what differs. */
function sameDependencies(locked, manifest) {
  return ['dependencies', 'devDependencies', 'optionalDependencies'].every((field) => {
    const [from = {}, to = {}] = [locked[field], manifest[field]];
    return Object.keys({ ...from, ...to }).every((name) => from[name] === to[name]);
  });
}

function built() {
  const at = statSync(join(ROOT, 'dist/meta.json'), { throwIfNoEntry: false })?.mtimeMs;
  return at !== undefined && BUILD_INPUTS.every((path) => newest(join(ROOT, path)) < at);
}

/** The latest change below a path in milliseconds; folders count too, since removing a file changes only them. */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  const children = stats.isDirectory() ? readdirSync(path).map((name) => newest(join(path, name))) : [];
  return Math.max(stats.mtimeMs, ...children);
}
