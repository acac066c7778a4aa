import { fileURLToPath } from 'node:url';
import { pageBundle } from './page-bundle.mjs';
import { plainHeaders } from './plain-headers.mjs';
import { precompiledSchemas } from './precompiled-schemas.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

const HTTP_CLIENT = fileURLToPath(new URL('shims/actions-http-client.mjs', import.meta.url));
const STRING_WIDTH = fileURLToPath(new URL('shims/string-width.mjs', import.meta.url));

/** How esbuild makes dist: everything but the entry points and the folder to write to. */
export const bundleOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  format: /** @type {const} */ ('esm'),
  platform: /** @type {const} */ ('node'),
  target: 'node20.19',
  mainFields: ['module', 'main'], // jsonc-parser's UMD build fails at run time
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[name]-[hash]',
  // CommonJS packages in an ESM bundle still call require.
  banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  alias: {
    'string-width': STRING_WIDTH,
    '@actions/http-client': HTTP_CLIENT,
    '@actions/http-client/lib/auth': HTTP_CLIENT,
  },
  // Optional peers: beside agent-run where someone installed them.
  external: ['@anthropic-ai/bedrock-sdk', '@anthropic-ai/vertex-sdk'],
  plugins: [precompiledSchemas, plainHeaders, pageBundle],
  legalComments: /** @type {const} */ ('linked'),
  metafile: /** @type {const} */ (true),
  logLevel: /** @type {const} */ ('warning'),
};
