// esbuild plugin: the SDK builds its requests' headers with our class in place of the global one, whose first use loads
// Node's whole fetch. The SDK sends through our own fetch anyway, which takes text and bytes: so the SDK need not ask
// whether a body is one of the other things either, and load their classes to know them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const HEADERS = fileURLToPath(new URL('../src/model/http-response.ts', import.meta.url));

export const plainHeaders = {
  name: 'plain-headers',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onLoad({ filter: /[/\\]node_modules[/\\]@anthropic-ai[/\\]sdk[/\\].*\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8').replace(/globalThis\.(?:ReadableStream|Blob)\b/g, 'undefined');
      const own = /(?:new|instanceof) Headers\b/.test(text);
      const contents = own ? `import { HeaderList as Headers } from ${JSON.stringify(HEADERS)};\n${text}` : text;
      return { contents, loader: /** @type {const} */ ('js') };
    });
  },
};
