// esbuild plugin: the SDK builds its requests' headers with our class in place of the global one, whose first use loads
// Node's whole fetch. The SDK sends through our own fetch anyway.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const HEADERS = fileURLToPath(new URL('../src/model/http-response.ts', import.meta.url));

export const plainHeaders = {
  name: 'plain-headers',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onLoad({ filter: /[/\\]node_modules[/\\]@anthropic-ai[/\\]sdk[/\\].*\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!/(?:new|instanceof) Headers\b/.test(text)) return undefined;
      const contents = `import { HeaderList as Headers } from ${JSON.stringify(HEADERS)};\n${text}`;
      return { contents, loader: /** @type {const} */ ('js') };
    });
  },
};
