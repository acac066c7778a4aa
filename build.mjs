// Bundles the front doors into dist/: split ESM chunks, so that a start loads only what it uses.
import { chmodSync, existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, ROOT } from './scripts/bundle-options.mjs';
import { licencesOf } from './scripts/licences.mjs';
import { mergeChunks } from './scripts/merge-chunks.mjs';

const META = join(ROOT, 'dist/meta.json');

/** Name of the file in dist, and the source it is built from. */
const ENTRIES = {
  cli: 'src/cli/main.ts',
  action: 'src/action/main.ts',
  post: 'src/action/post.ts',
  api: 'src/api/main.ts',
};

/** What a plain `agent-run TASK` loads before its first request. */
const PLAIN_START = ['src/cli/start.ts', 'src/cli/run-command.ts', 'src/core/task-check.ts', 'src/model/anthropic.ts'];

/** What a task with an output schema loads besides. */
const WITH_SCHEMA = ['src/core/ajv-draft-07.ts', 'src/core/ajv-formats.ts', 'src/core/metaschema-draft-07.ts'];

const entryPoints = Object.fromEntries(Object.entries(ENTRIES).filter(([, source]) => existsSync(join(ROOT, source))));
if (Object.keys(entryPoints).length === 0) {
  console.error('build: no entry point exists under src');
  process.exit(1);
}

const startedAt = new Date();
rmSync(META, { force: true }); // a build that fails halfway counts as none
const { metafile } = await build({ ...bundleOptions, entryPoints, outdir: 'dist' });
if (entryPoints.cli) {
  const banner = bundleOptions.banner.js;
  await mergeChunks(ROOT, metafile, { entries: PLAIN_START, apart: [ENTRIES.cli], banner });
  await mergeChunks(ROOT, metafile, { entries: WITH_SCHEMA, apart: [ENTRIES.cli, PLAIN_START[0]], banner });
}

const wanted = new Set(Object.keys(metafile.outputs));
for (const entry of readdirSync(join(ROOT, 'dist'), { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && !wanted.has(path.slice(ROOT.length).replaceAll('\\', '/'))) rmSync(path);
}
if (entryPoints.cli) chmodSync(join(ROOT, 'dist/cli.mjs'), 0o755);
writeFileSync(join(ROOT, 'dist/THIRD-PARTY-LICENCES.txt'), licencesOf(ROOT, Object.keys(metafile.inputs)));
writeFileSync(META, JSON.stringify(metafile));
utimesSync(META, startedAt, startedAt); // a source edited while this ran is newer than the build
