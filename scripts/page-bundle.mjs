// Imports that end in `?bundle`: the file with all it imports, made ready for a browser, as one text. The report's page
// carries its script and style this way. One plugin for esbuild (the build) and one for vite (the tests).
import { dirname, resolve } from 'node:path';
import { build } from 'esbuild';

const MARK = /\?bundle$/;
const VITE_PREFIX = '\0page-bundle:';

/** The text of a script or style sheet for browsers of the last years. */
export async function bundlePage(/** @type {string} */ entry) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: ['chrome110', 'firefox115', 'safari16.4'],
    legalComments: 'none',
    tsconfigRaw: { compilerOptions: { target: 'es2022' } },
  });
  return outputFiles[0]?.text.trim() ?? '';
}

export const pageBundle = {
  name: 'page-bundle',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onResolve({ filter: MARK }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace(MARK, '')),
      namespace: 'page-bundle',
    }));
    build.onLoad({ filter: /.*/, namespace: 'page-bundle' }, async ({ path }) => ({
      contents: await bundlePage(path),
      loader: /** @type {const} */ ('text'),
    }));
  },
};

export const vitePageBundle = {
  name: 'page-bundle',
  enforce: /** @type {const} */ ('pre'),
  /** @type {(id: string, importer: string | undefined) => string | undefined} */
  resolveId(id, importer) {
    if (!MARK.test(id) || importer === undefined) return undefined;
    // In letters that hide the ending: vite would take a module called .css for a style sheet.
    return VITE_PREFIX + Buffer.from(resolve(dirname(importer), id.replace(MARK, ''))).toString('hex');
  },
  /** @type {(id: string) => Promise<string | undefined>} */
  async load(id) {
    if (!id.startsWith(VITE_PREFIX)) return undefined;
    const path = Buffer.from(id.slice(VITE_PREFIX.length), 'hex').toString();
    return `export default ${JSON.stringify(await bundlePage(path))};`;
  },
};
