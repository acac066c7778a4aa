// A scripted Messages server of its own process. It answers each session's requests from a list of turns, refuses what
// the service would refuse of such a conversation, and keeps when what came and went, on the machine's steady clock.
//
//   POST /bench { turns: [{ blocks: [{ text } | { name, input }, optionally then_ms], ... }] }  -> { id }
//   GET  /bench/ID  -> { requests: [{ at, headers, bytes, text, stops: [..], ended }], failures: [..] }
//   POST /ID/v1/messages  the conversation itself

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const MODEL = 'claude-sonnet-5-5';
const sessions = new Map();

/** Milliseconds on a clock that all processes of the machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

const server = createServer((request, response) => {
  const at = now();
  answer(request, response, at).catch((error) => {
    // A client that leaves in the middle of its reply; a session that is waiting for it will tell.
    response.destroy(error);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }));
process.on('disconnect', () => process.exit());

async function answer(request, response, at) {
  const [, first, second] = request.url.split('/');
  const body = await readText(request);
  if (first !== 'bench') return reply(sessions.get(first), { at, body, headers: request.headers }, response);
  if (request.method === 'GET') return sendJson(response, 200, sessions.get(second));
  const id = `s${sessions.size + 1}`;
  sessions.set(id, { id, ...JSON.parse(body), requests: [], failures: [] });
  return sendJson(response, 200, { id });
}

async function readText(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function reply(session, { at, body, headers }, response) {
  const n = session.requests.length;
  const seen = { at, bytes: Buffer.byteLength(body), connection: response.socket.remotePort, stops: [], ended: null };
  session.requests.push(n === 0 ? { ...seen, text: body } : seen);
  const kept = session.requests.at(-1);
  const fault = faultOf(headers, JSON.parse(body)) ?? (session.turns[n] ? undefined : 'a request too many');
  if (fault) {
    session.failures.push(`request ${n + 1}: ${fault}`);
    const error = { type: 'error', error: { type: 'invalid_request_error', message: fault } };
    return sendJson(response, 400, error);
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${n + 1}` });
  await stream(session.turns[n], n, { response, kept });
  response.end(frame('message_stop', {}));
  kept.ended = now();
}

/** What the service would refuse: the headers, the fields, and calls without their results. */
function faultOf(headers, { model, max_tokens, messages, stream: streams }) {
  if (!(headers['x-api-key'] ?? headers.authorization) || !headers['anthropic-version']) return 'no key or no version';
  if (model !== MODEL || !(max_tokens > 0) || streams !== true || !Array.isArray(messages)) return 'fields';
  if (messages.at(-1)?.role !== 'user') return 'the last message must be the user’s';
  const asked = messages.length < 2 ? [] : messages.at(-2).content.filter(({ type }) => type === 'tool_use');
  const given = new Set(messages.at(-1).content.map((block) => block.tool_use_id));
  const open = asked.find(({ id }) => !given.has(id));
  return open ? `tool_use ${open.id} has no result` : undefined;
}

async function stream({ blocks }, n, { response, kept }) {
  const usage = { input_tokens: Math.ceil(kept.bytes / 4), output_tokens: 1 };
  const message = { id: `msg_${n + 1}`, type: 'message', role: 'assistant', model: MODEL, content: [], usage };
  response.write(frame('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } }));
  for (const [index, block] of blocks.entries()) {
    const { start, deltas } = partsOf(block, `toolu_${n + 1}_${index + 1}`);
    const frames = [
      frame('content_block_start', { index, content_block: start }),
      ...deltas.map((delta) => frame('content_block_delta', { index, delta })),
      frame('content_block_stop', { index }),
    ];
    response.write(frames.join(''));
    kept.stops.push(now());
    if (block.then_ms) await sleep(block.then_ms);
  }
  const stop_reason = blocks.some(({ name }) => name) ? 'tool_use' : 'end_turn';
  response.write(frame('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } }));
}

function partsOf(block, id) {
  if (block.name === undefined) {
    return { start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text: block.text }] };
  }
  const start = { type: 'tool_use', id, name: block.name, input: {} };
  return { start, deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }] };
}

function frame(type, fields) {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
