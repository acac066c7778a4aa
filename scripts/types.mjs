// Writes the declarations that the library's own types reach into dist/types, and nothing else of src.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './bundle-options.mjs';

const ENTRY = 'api/main.d.ts';
const TARGET = join(ROOT, 'dist/types');

const emitted = mkdtempSync(join(tmpdir(), 'agent-run-types-'));
try {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', join(ROOT, 'scripts/tsconfig.types.json'), '--outDir', emitted];
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
  rmSync(TARGET, { recursive: true, force: true });
  const files = reached(join(emitted, ENTRY));
  for (const [path, text] of files) {
    const target = join(TARGET, relative(emitted, path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  console.error(`types: ${files.size} files`);
} finally {
  rmSync(emitted, { recursive: true, force: true });
}

/** The texts of a declaration file and of all it imports, with `.js` names, as consumers' compilers look them up. */
function reached(path, found = new Map()) {
  if (found.has(path)) return found;
  const text = readFileSync(path, 'utf8');
  found.set(path, text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
  for (const [, request] of text.matchAll(/from '(\.[^']*)\.ts'/g)) {
    reached(join(dirname(path), `${request}.d.ts`), found);
  }
  return found;
}
