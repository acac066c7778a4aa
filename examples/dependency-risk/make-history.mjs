import { makeHistory } from '../history.mjs';

const SERVER = `import { createServer } from 'fast-router';

export const server = createServer({ trustProxy: true });
server.get('/health', (request, reply) => reply.json({ ok: true }));
`;
const GUIDE = `# fast-router 5

- \`reply.json()\` is gone; use \`reply.send()\`.
- \`trustProxy\` takes a list of addresses; \`true\` is refused at start.
`;
const manifest = (router, tiny) =>
  `${JSON.stringify({ type: 'module', dependencies: { 'fast-router': router, 'tiny-log': tiny } }, null, 2)}\n`;

export const ARGS = ['--input', 'base=main'];

/** A service whose branch raises one package by a major version and one by a patch. */
export default async function make(dir) {
  makeHistory(dir, [
    {
      message: 'Serve a health check',
      files: {
        'package.json': manifest('4.2.0', '1.0.3'),
        'src/server.js': SERVER,
        'node_modules/fast-router/MIGRATION.md': GUIDE,
      },
    },
    { branch: 'update', message: 'Update packages', files: { 'package.json': manifest('5.0.0', '1.0.4') } },
  ]);
}
