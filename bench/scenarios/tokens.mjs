// Size of the first prompt, and what a chain of turns is billed when the service caches prompts.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { row } from '../figures.mjs';
import { ROOT, runOurs } from '../world.mjs';
import { limits } from './turns.mjs';

const TURNS = 20;
/** Prices beside that of an input token: cache writes for five minutes and an hour, cache reads. */
const PRICES = { write_5m: 1.25, write_1h: 2, read: 0.1 };
const BYTES_PER_TOKEN = 4;

export async function measure({ world }) {
  const tools = { bash: { allow: ['seq *'] }, read_file: {} };
  const fields = { tools, sandbox: { mode: 'off' } };
  const first = await runOurs(world, [{ blocks: [{ text: 'Done.' }] }], fields);
  const billed = await chainBill(world, { ...fields, ...limits(TURNS) });
  return [
    row('first prompt with bash and read_file', first.requests[0].bytes / BYTES_PER_TOKEN, { unit: 'tokens' }),
    row(`billed tokens of ${TURNS} turns over the ideal`, billed.ours / billed.ideal, {
      ours: billed.ours,
      reference: billed.ideal,
      unit_of_sides: 'tokens',
    }),
  ];
}

/** A chain against the strict stand-in of the tests, which simulates the service's cache; in tokens of plain input. */
async function chainBill(world, fields) {
  const { startMessagesServer, reply } = await strictServer(world);
  const replies = Array.from({ length: TURNS - 1 }, () =>
    reply.message({
      content: [{ type: 'tool_use', name: 'bash', input: { command: 'seq 1 300' } }],
      stop_reason: 'tool_use',
    }),
  );
  const server = await startMessagesServer({ auth: 'either', simulate_cache: true, replies: [...replies, 'Done.'] });
  try {
    await runOurs({ ...world, elsewhere: server.url }, [], fields);
    if (server.failures.length > 0) throw new Error(server.failures.join('\n'));
    return billOf(server.replies.map(({ message }) => message.usage));
  } finally {
    await server.close();
  }
}

/** What was billed, and what would be if every token were written to the cache once and read ever after. */
function billOf(usages) {
  const sum = { ours: 0, ideal: 0 };
  let before = 0;
  for (const usage of usages) {
    const { input_tokens, cache_read_input_tokens: read, cache_creation: written } = usage;
    const { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour } = written;
    sum.ours += input_tokens + read * PRICES.read + minutes * PRICES.write_5m + hour * PRICES.write_1h;
    const prompt = input_tokens + read + minutes + hour;
    sum.ideal += (prompt - before) * PRICES.write_5m + before * PRICES.read;
    before = prompt;
  }
  return sum;
}

async function strictServer(world) {
  const outfile = join(world.folder, 'strict.mjs');
  const folder = './test/helpers/messages-server';
  const contents = `export { startMessagesServer } from '${folder}/server.ts'; export { reply } from '${folder}/reply.ts';`;
  const stdin = { contents, resolveDir: ROOT, loader: 'ts' };
  await build({
    stdin,
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}
