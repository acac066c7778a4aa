import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerTurn, refuse } from './answer.ts';
import { promptTokens } from './cache.ts';
import { MAX_BODY_BYTES } from './check-transport.ts';
import { isRecord } from './json-text.ts';
import { modelFacts, modelInfo } from './models.ts';
import { startState } from './state.ts';
import type { ServerState } from './state.ts';
import type { MessagesServer, RecordedRequest, ServerOptions } from './types.ts';
import { betasOf, headerViolation, validate } from './validate.ts';
import type { RawBody } from './validate.ts';
import type { Delivery } from './send.ts';

/** Starts a stand-in for the Messages API on 127.0.0.1 that answers from a script and refuses what the service would. */
export async function startMessagesServer(options: ServerOptions = {}): Promise<MessagesServer> {
  const state = startState(options);
  const server = createServer((request, response) => void serve(state, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: state.requests,
    turns: state.turns,
    replies: state.replies,
    failures: state.failures,
    push: (...replies) => void state.queue.push(...replies),
    newConversation: () => void (state.generation += 1),
    close: async () => {
      state.closing.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function serve(state: ServerState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const raw = await readBody(request);
    const recorded = record(state, request, raw);
    const delivery = { response, headers: responseHeaders(state, recorded), closing: state.closing.signal };
    await route(state, recorded, raw, delivery);
  } catch (error) {
    // A script function that throws, or a client that leaves while its body is read.
    if (!response.destroyed) state.failures.push(`server: ${error instanceof Error ? error.message : String(error)}`);
    response.destroy();
  }
}

async function route(state: ServerState, recorded: RecordedRequest, raw: RawBody, delivery: Delivery): Promise<void> {
  const target = `${recorded.method} ${recorded.path.replace(/\?.*$/, '')}`;
  if (target === 'POST /v1/messages') return answerTurn(state, recorded, raw, delivery);
  if (target === 'POST /v1/messages/count_tokens') return countTokens(state, recorded, raw, delivery);
  const id = /^GET \/v1\/models\/([^/]+)$/.exec(target)?.[1];
  if (id !== undefined) return retrieveModel(state, recorded, decodeURIComponent(id), delivery);
  refuse(delivery, { rule: 'fields', message: 'Not Found', status: 404, type: 'not_found_error' });
}

function countTokens(state: ServerState, recorded: RecordedRequest, raw: RawBody, delivery: Delivery): void {
  const checked = validate(state, recorded, raw, true);
  if (!checked.ok) {
    state.failures.push(`count_tokens ${recorded.n}: ${checked.violation.rule}: ${checked.violation.message}`);
    refuse(delivery, checked.violation);
    return;
  }
  sendJson(delivery, { input_tokens: promptTokens(checked.node, checked.request) });
}

function retrieveModel(state: ServerState, recorded: RecordedRequest, id: string, delivery: Delivery): void {
  const facts = modelFacts(id, state.options.models);
  const violation = headerViolation(state, recorded.headers);
  if (violation !== undefined) {
    state.failures.push(`models ${recorded.n}: ${violation.rule}: ${violation.message}`);
    refuse(delivery, violation);
  } else if (facts === undefined) {
    refuse(delivery, { rule: 'model', message: `model: ${id}`, status: 404, type: 'not_found_error' });
  } else {
    sendJson(delivery, modelInfo(id, facts, betasOf(recorded)));
  }
}

function sendJson(delivery: Delivery, value: unknown): void {
  delivery.response.writeHead(200, { 'content-type': 'application/json', ...delivery.headers });
  delivery.response.end(JSON.stringify(value));
}

async function readBody(request: IncomingMessage): Promise<RawBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk); // an IncomingMessage without an encoding yields buffers
    size += bytes.length;
    if (size <= MAX_BODY_BYTES) chunks.push(bytes);
  }
  return { bytes: Buffer.concat(chunks), too_large: size > MAX_BODY_BYTES };
}

function record(state: ServerState, request: IncomingMessage, raw: RawBody): RecordedRequest {
  const method = request.method ?? '';
  const path = request.url ?? '';
  const plain = path.replace(/\?.*$/, '');
  const same = state.requests.filter(
    (earlier) => earlier.method === method && earlier.path.replace(/\?.*$/, '') === plain,
  );
  const text = raw.bytes.toString('utf8');
  const recorded: RecordedRequest = {
    n: same.length + 1,
    method,
    path,
    headers: request.headers,
    text,
    body: parsedBody(text),
    received_at: state.now(),
    request_id: `req_${String(state.requests.length + 1).padStart(4, '0')}`,
  };
  state.requests.push(recorded);
  if (method === 'POST' && plain === '/v1/messages') state.turns.push(recorded);
  return recorded;
}

function parsedBody(text: string): RecordedRequest['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // a SyntaxError; the validation reports it
  }
}

function responseHeaders(state: ServerState, recorded: RecordedRequest): Record<string, string> {
  const headers: Record<string, string> = { 'request-id': recorded.request_id };
  if (state.options.rate_limits !== true) return headers;
  const reset = new Date(state.now() + 60_000).toISOString();
  for (const [kind, limit] of Object.entries({
    requests: 1000,
    tokens: 500_000,
    'input-tokens': 400_000,
    'output-tokens': 100_000,
  })) {
    headers[`anthropic-ratelimit-${kind}-limit`] = String(limit);
    headers[`anthropic-ratelimit-${kind}-remaining`] = String(limit - recorded.n);
    headers[`anthropic-ratelimit-${kind}-reset`] = reset;
  }
  return headers;
}
