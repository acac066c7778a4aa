// One file for what every plain start loads. Node spends about a millisecond on each module file, and a start would load
// some fifty chunks; those are bundled once more, and a chunk that others import too becomes a list of names to take
// from there, so that each module still exists once.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

/**
 * Merges the chunks of some entry points, and all that those import at once, into the chunk of the first. `metafile` is
 * esbuild's account of a split build below `root` and is changed accordingly; `apart` are entry points whose chunks are
 * loaded before and stay as they are.
 */
export async function mergeChunks(root, metafile, { entries, apart, banner }) {
  const { outputs } = metafile;
  const main = chunkOf(outputs, entries[0]);
  const outside = closureOf(outputs, apart);
  const merged = [...closureOf(outputs, entries)].filter((path) => !outside.has(path));
  const { lines, stubs } = exportsOf(outputs, merged, main);
  const contents = await bundle(root, { main, merged, lines, banner });
  for (const [path, text] of stubs) {
    if (text === '') rmSync(join(root, path));
    else writeFileSync(join(root, path), text);
  }
  writeFileSync(join(root, main), contents);
  account(outputs, { main, merged, stubs, bytes: Buffer.byteLength(contents) });
}

/** The chunks of entry points and all that those import at once. */
export function closureOf(outputs, entries) {
  const found = new Set();
  const add = (path) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { kind, path: next } of outputs[path].imports) {
      if (kind === 'import-statement' && outputs[next]) add(next);
    }
  };
  for (const entry of entries) add(chunkOf(outputs, entry));
  return found;
}

function chunkOf(outputs, entry) {
  const path = Object.keys(outputs).find((name) => outputs[name].entryPoint === entry);
  if (path === undefined) throw new Error(`no chunk was built from ${entry}`);
  return path;
}

/**
 * What the merged file exports, under names of its own, and the text of the chunks that give those names back. A chunk
 * that only merged ones import needs neither, and so is still evaluated when it is asked for and not before.
 */
function exportsOf(outputs, merged, main) {
  const lines = [];
  const stubs = new Map();
  const others = Object.keys(outputs).filter((path) => !merged.includes(path));
  const wanted = new Set(others.flatMap((path) => outputs[path].imports.map((each) => each.path)));
  for (const [index, path] of merged.entries()) {
    if (path !== main && !wanted.has(path)) {
      stubs.set(path, '');
      continue;
    }
    const names = outputs[path].exports;
    const other = path === main ? names : names.map((_name, at) => `m${index}_${at}`);
    const pairs = names.map((name, at) => [name, other[at]]);
    lines.push(`export { ${pairs.map(([a, b]) => `${a} as ${b}`).join(', ')} } from ${specifier(main, path)};`);
    if (path === main) continue;
    const back = pairs.map(([a, b]) => `${b} as ${a}`).join(', ');
    stubs.set(path, `export { ${back} } from ${specifier(path, main)};\n`);
  }
  return { lines, stubs };
}

function specifier(from, to) {
  const path = relative(dirname(from), to).replaceAll('\\', '/');
  return JSON.stringify(path.startsWith('.') ? path : `./${path}`);
}

async function bundle(root, { main, merged, lines, banner }) {
  const isMerged = new Set(merged.map((path) => join(root, path)));
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: lines.join('\n'), resolveDir: join(root, dirname(main)) },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    outfile: main,
    banner: { js: banner },
    minifyWhitespace: true, // what is shorter is read faster; names stay, for stack traces
    minifySyntax: true,
    legalComments: 'none', // they stand beside the chunks
    logLevel: 'warning',
    plugins: [
      {
        name: 'merge-chunks',
        setup(steps) {
          steps.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
            const whole = join(resolveDir, path);
            if (isMerged.has(whole)) return { path: whole };
            return { path: JSON.parse(specifier(main, relative(root, whole))), external: true };
          });
          steps.onLoad({ filter: /\.mjs$/ }, ({ path }) => {
            const text = readFileSync(path, 'utf8');
            return { contents: text.replace(banner, ''), loader: 'js' };
          });
        },
      },
    ],
  });
  return outputFiles[0].text;
}

/** Changes esbuild's account of its outputs to what stands in dist now. */
function account(outputs, { main, merged, stubs, bytes }) {
  const inputs = Object.assign({}, ...merged.map((path) => outputs[path].inputs));
  const imports = merged
    .flatMap((path) => outputs[path].imports)
    .filter(({ path, kind }, at, all) => {
      const first = all.findIndex((other) => other.path === path && other.kind === kind) === at;
      return first && !merged.includes(path);
    });
  outputs[main] = { ...outputs[main], inputs, imports, bytes };
  for (const [path, text] of stubs) {
    if (text === '') {
      delete outputs[path];
      continue;
    }
    const only = [{ path: main, kind: 'import-statement' }];
    outputs[path] = { ...outputs[path], inputs: {}, imports: only, bytes: Buffer.byteLength(text) };
  }
}
