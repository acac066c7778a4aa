// Bundles the front doors into dist/: split ESM chunks, so that a start loads only what it uses.
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const META = join(ROOT, 'dist/meta.json');

/** Name of the file in dist, and the source it is built from. */
const ENTRIES = {
  cli: 'src/cli/main.ts',
  action: 'src/action/main.ts',
  'schema-worker': 'src/output/schema-worker.ts',
};
const SHIMS = {
  'string-width': 'scripts/shims/string-width.mjs',
  '@actions/http-client': 'scripts/shims/actions-http-client.mjs',
  '@actions/http-client/lib/auth': 'scripts/shims/actions-http-client.mjs',
};

const entryPoints = Object.fromEntries(Object.entries(ENTRIES).filter(([, source]) => existsSync(join(ROOT, source))));
if (Object.keys(entryPoints).length === 0) {
  console.error('build: no entry point exists under src');
  process.exit(1);
}

const startedAt = new Date();
rmSync(META, { force: true }); // a build that fails halfway counts as none
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints,
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  mainFields: ['module', 'main'], // jsonc-parser's UMD build fails at run time
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[name]-[hash]',
  // CommonJS packages in an ESM bundle still call require.
  banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  alias: Object.fromEntries(Object.entries(SHIMS).map(([name, shim]) => [name, join(ROOT, shim)])),
  legalComments: 'linked',
  metafile: true,
  logLevel: 'warning',
});

const wanted = new Set(Object.keys(metafile.outputs));
for (const entry of readdirSync(join(ROOT, 'dist'), { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && !wanted.has(path.slice(ROOT.length).replaceAll('\\', '/'))) rmSync(path);
}
writeFileSync(META, JSON.stringify(metafile));
utimesSync(META, startedAt, startedAt); // a source edited while this ran is newer than the build
