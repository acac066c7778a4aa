import type { IncomingHttpHeaders } from 'node:http';
import { canonicalRequest } from './canonical.ts';
import type { CanonicalRequest } from './canonical.ts';
import { promptTokens } from './cache.ts';
import { checkCompaction } from './check-compaction.ts';
import { checkCacheControl } from './check-cache-control.ts';
import { checkFields } from './check-fields.ts';
import { checkMessages, messagesOf } from './check-messages.ts';
import { checkToolResults } from './check-tool-results.ts';
import { checkTools } from './check-tools.ts';
import { checkHeaders, decodeBody } from './check-transport.ts';
import { checkConversation } from './conversation.ts';
import type { JsonNode, JsonRecord } from './json-text.ts';
import { modelFacts } from './models.ts';
import { conversationOf } from './state.ts';
import type { ServerState } from './state.ts';
import type { RecordedRequest, Violation } from './types.ts';

/** A POST body as it arrived. */
export interface RawBody {
  bytes: Buffer;
  too_large: boolean;
}

export type Validated = { ok: true; node: JsonNode; request: CanonicalRequest } | { ok: false; violation: Violation };

/** The first violation of the headers; undefined when they are as they must be. */
export function headerViolation(state: ServerState, headers: IncomingHttpHeaders): Violation | undefined {
  return firstOf(state, checkHeaders(headers, state.options));
}

/** Applies every rule to a request of POST /v1/messages, or of count_tokens when `counting`. */
export function validate(state: ServerState, recorded: RecordedRequest, raw: RawBody, counting: boolean): Validated {
  const refused = headerViolation(state, recorded.headers);
  if (refused !== undefined) return { ok: false, violation: refused };
  const decoded = decodeBody(raw.bytes, raw.too_large);
  if ('rule' in decoded) return { ok: false, violation: decoded };
  const { body, node } = decoded;
  const request = canonicalRequest(node);
  const violation = firstOf(state, checkAll(state, recorded, { body, node, request, counting }));
  return violation === undefined ? { ok: true, node, request } : { ok: false, violation };
}

interface Subject {
  body: JsonRecord;
  node: JsonNode;
  request: CanonicalRequest;
  counting: boolean;
}

function* checkAll(state: ServerState, recorded: RecordedRequest, subject: Subject): Generator<Violation> {
  const { body, node, request, counting } = subject;
  const id = body['model'];
  const model = typeof id === 'string' ? modelFacts(id, state.options.models) : undefined;
  const incoming = { body, model, counting, betas: betasOf(recorded) };
  yield* checkFields(incoming);
  yield* checkMessages(incoming);
  yield* checkTools(body);
  yield* checkCacheControl(body);
  yield* checkToolResults(messagesOf(body));
  yield* checkCompaction(incoming, request, state.summaries);
  if (!counting) yield* checkConversation(conversationOf(state, recorded, request), request);
  const tokens = promptTokens(node, request);
  if (model !== undefined && tokens > model.max_input_tokens) {
    yield {
      rule: 'prompt_too_long',
      message: `prompt is too long: ${tokens} tokens > ${model.max_input_tokens} maximum`,
    };
  }
}

/** The names in the anthropic-beta header. */
export function betasOf(recorded: RecordedRequest): string[] {
  return String(recorded.headers['anthropic-beta'] ?? '')
    .split(',')
    .map((beta) => beta.trim());
}

function firstOf(state: ServerState, violations: Iterable<Violation>): Violation | undefined {
  const tolerated = state.options.tolerate ?? [];
  for (const violation of violations) {
    if (!tolerated.includes(violation.rule)) return violation;
  }
  return undefined;
}
