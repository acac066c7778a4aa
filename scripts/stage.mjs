// Lays the package out as it is published, in release/: dist/ holds the libraries already, so that whoever installs it
// gets one folder and no dependency. `npm pack ./release` and `npm publish ./release` take it from there.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './bundle-options.mjs';

/** What says something to a user or to npm; the rest of package.json is for those who build. */
const FIELDS =
  'name version description keywords license repository homepage bugs type engines bin exports files peerDependencies peerDependenciesMeta'.split(
    ' ',
  );
const TARGET = process.argv[2] ?? join(ROOT, 'release');

const packed = mkdtempSync(join(tmpdir(), 'agent-run-stage-'));
try {
  const [{ filename, size, unpackedSize }] = JSON.parse(
    run('npm', ['pack', '--silent', '--json', '--pack-destination', packed]),
  );
  run('tar', ['-xzf', join(packed, filename), '-C', packed]);
  rmSync(TARGET, { recursive: true, force: true });
  cpSync(join(packed, 'package'), TARGET, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(TARGET, 'package.json'), 'utf8'));
  const kept = Object.fromEntries(FIELDS.flatMap((name) => (name in manifest ? [[name, manifest[name]]] : [])));
  writeFileSync(join(TARGET, 'package.json'), `${JSON.stringify(kept, null, 2)}\n`);
  console.log(`package: ${(size / 1e6).toFixed(2)} MB packed, ${(unpackedSize / 1e6).toFixed(2)} MB unpacked`);
} finally {
  rmSync(packed, { recursive: true, force: true });
}

function run(command, args) {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1e8,
  });
  if (error || status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? `exit ${status}`}`);
  return stdout;
}
