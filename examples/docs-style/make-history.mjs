import { makeHistory } from '../history.mjs';

const PAGE = `# Setup

Simply run the installer.

Your project area is ready.
`;
const SERVER = `import { createInterface } from 'node:readline';

const TERMS = { workspace: 'the folder that you work in', 'project area': 'another name for workspace' };
const TOOL = {
  name: 'define',
  description: 'What a term of our glossary means.',
  inputSchema: { type: 'object', properties: { term: { type: 'string' } }, required: ['term'] },
};
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'glossary', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { term } }) => ({
    content: [{ type: 'text', text: \`\${term}: \${TERMS[term] ?? 'not in the glossary'}\` }],
  }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = id === undefined ? undefined : ANSWERS[method]?.(params);
  if (result) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;

/** A page with two words that its style guide does not want, and the server of the team's glossary. */
export default async function make(dir) {
  makeHistory(dir, [
    {
      message: 'Explain the setup',
      files: { 'docs/setup.md': PAGE, 'tools/glossary-server.mjs': SERVER },
    },
  ]);
}
