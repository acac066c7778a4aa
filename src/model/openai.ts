import type { ModelConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { toolUses } from '../core/messages.ts';
import type { AssistantBlock, ToolDefinition } from '../core/messages.ts';
import type { JsonObject } from '../core/json.ts';
import type { ModelClient, ModelReply, ModelRequest, Redact, SendHooks } from '../core/ports.ts';
import { costUsd } from '../core/usage.ts';
import type { OpenAI } from 'openai/client';
import type { AnthropicDeps } from './anthropic.ts';
import { streamFailure } from './attempt-failure.ts';
import type { AttemptFailure, Service } from './failure.ts';
import { readAccess } from './openai-access.ts';
import type { Access } from './openai-access.ts';
import { firstDialect, nextDialect } from './openai-dialect.ts';
import type { Dialect } from './openai-dialect.ts';
import { chatFailure } from './openai-failure.ts';
import { ChatReader } from './openai-reader.ts';
import { chatBody } from './openai-request.ts';
import { createChatSdk } from './openai-sdk.ts';
import { readChat } from './openai-stream.ts';
import { pricesOf } from './pricing.ts';
import { estimatedBytes } from './reply-usage.ts';
import { reported, sendWithRetries } from './retry.ts';
import type { AttemptResult } from './retry.ts';
import { withoutNulls } from './strict-schema.ts';
import { watchAttempt } from './watch.ts';

/** What every attempt of a client needs; the dialect is what the endpoint has taught so far. */
interface Session {
  config: ModelConfig;
  deps: AnthropicDeps;
  sdk: OpenAI;
  service: Service;
  dialect: Dialect;
}

interface Turn {
  request: ModelRequest;
  hooks: SendHooks;
  signal: AbortSignal;
  /** Ids of calls that attempts before handed out: the service may give them again. */
  handed: Set<string>;
}

// The SDK's own timer must not be first: its error does not say what it waited for.
const SDK_TIMEOUT_MARGIN_MS = 5_000;
const SHORTEST_KEY_TO_HIDE = 8;

/** A client of any endpoint for chat completions. Throws UsageError for a missing key, a bad address or limit. */
export function createChatClient(config: ModelConfig, given: AnthropicDeps): ModelClient {
  if (!Number.isInteger(config.max_tokens) || config.max_tokens < 1)
    throw new UsageError(`model.max_tokens is ${config.max_tokens}; ${config.id} takes a whole number at least 1`);
  const access = readAccess(config, given.env);
  const deps = { ...given, redact: hidingKey(given.redact, access) };
  const base_url = access.base.origin + access.base.pathname.replace(/\/$/, '');
  const session: Session = {
    config,
    deps,
    sdk: createChatSdk(access, given.env),
    service: { provider: 'openai', base_url, model: config.id },
    dialect: firstDialect(access.is_default),
  };
  const known = pricesOf(config, deps.clock.now());
  return {
    id: config.id,
    ...known,
    max_output_tokens: null,
    context_tokens: null,
    send(request, hooks, signal) {
      let number = 0;
      const handed = new Set<string>();
      const attempt = () => {
        number += 1;
        return sendInDialect(session, { request, hooks, signal, handed }, number);
      };
      return sendWithRetries({ model: config.id, prices: known.prices, attempt }, deps, hooks, signal);
    },
  };
}

// The run's redaction knows the key by its variable's name; this one holds whatever the variable is called.
function hidingKey(redact: Redact, { key = '' }: Access): Redact {
  if (key.length < SHORTEST_KEY_TO_HIDE) return redact;
  return (text) => redact(text).replaceAll(key, '[redacted]');
}

/** One attempt; a refusal that names what the endpoint does not take is answered by asking without it, and recorded. */
async function sendInDialect(session: Session, turn: Turn, number: number): Promise<AttemptResult> {
  for (;;) {
    const result = await sendOnce(session, turn);
    const next = result.ok ? undefined : nextDialect(session.dialect, result.failure);
    if (result.ok || !next) return result;
    session.dialect = next;
    if (turn.signal.aborted || turn.hooks.admit()) return result;
    const max_attempts = session.deps.max_retries + 1;
    const told = { attempt: number, max_attempts, model: session.config.id, wait_ms: 0 };
    turn.hooks.onAttempt({ ...told, ...reported(result.failure) });
  }
}

async function sendOnce(session: Session, { request, hooks, signal, handed }: Turn): Promise<AttemptResult> {
  const { deps, config, service, dialect } = session;
  const started_ms = deps.clock.now();
  const body = Buffer.from(chatBody(shapeOf(config), request, dialect));
  const watch = watchAttempt(signal, deps.idle_timeout_ms, deps.deadline());
  const meant = (content: readonly AssistantBlock[]): readonly AssistantBlock[] =>
    dialect.strict ? unfilled(content, request.tools) : content;
  const reader = new ChatReader({
    redact: deps.redact,
    request_bytes: estimatedBytes(body, request.messages),
    model: config.id,
    taken: new Set([...callIds(request), ...handed]),
    onCall: (call) => {
      handed.add(call.id);
      for (const offered of toolUses(meant([call]))) hooks.onBlock(offered);
    },
    onText: (text) => hooks.onText?.(text, 0),
  });
  const context = { reader, watch, service, now_ms: started_ms, ...deps };
  try {
    const response = await post(session, body, watch.signal);
    const fault = await readChat(response, reader, () => watch.alive());
    if (fault) return failed(streamFailure(fault, response, context), reader);
    const read = reader.reply();
    if (!read.ok) return failed(streamFailure(read.fault, response, context), reader);
    const content = [...meant(read.reply.content)];
    const reply = finished(session, { ...read.reply, content, ...requestId(response) }, started_ms);
    const left = reply.stop_reason === 'tool_use' ? toolUses(content).slice(reader.handed) : [];
    for (const call of left) hooks.onBlock(call);
    return { ok: true, reply };
  } catch (error) {
    // Errors of the connection and statuses that are no success; chatFailure throws what is neither.
    return failed(chatFailure(error, context), reader);
  } finally {
    watch.end(!reader.finished);
  }
}

function post({ sdk, deps }: Session, body: Buffer, signal: AbortSignal): Promise<Response> {
  const timeout = deps.idle_timeout_ms + SDK_TIMEOUT_MARGIN_MS;
  const headers = { 'content-type': 'application/json' };
  return sdk.post('/chat/completions', { body, headers, signal, maxRetries: 0, timeout, stream: true }).asResponse();
}

function failed(failure: AttemptFailure, { handed }: ChatReader): AttemptResult {
  return { ok: false, failure, offered: handed > 0 };
}

function shapeOf({ id, effort }: ModelConfig) {
  return { model: id, ...(effort === undefined ? {} : { effort }) };
}

function callIds({ messages }: ModelRequest): Set<string> {
  const calls = messages.flatMap(({ role, content }) => (role === 'assistant' ? toolUses(content) : []));
  return new Set(calls.map(({ id }) => id));
}

function requestId({ headers }: Response): { request_id?: string } {
  const request_id = headers.get('x-request-id');
  return request_id === null ? {} : { request_id };
}

/** Calls as the task's own schemas mean them, after a strict copy made the model fill in what is optional. */
function unfilled(content: readonly AssistantBlock[], tools: readonly ToolDefinition[]): AssistantBlock[] {
  return content.map((block) => {
    const tool = block.type === 'tool_use' ? tools.find(({ name }) => name === block.name) : undefined;
    if (block.type !== 'tool_use' || !tool) return block;
    const schema = tool.input_schema as JsonObject; // plain JSON by its own contract
    return { ...block, input_json: withoutNulls(block.input_json, schema) };
  });
}

type Unpriced = Omit<ModelReply, 'cost_usd' | 'duration_ms'>;

/** Endpoints answer under names of their own, so the task's prices hold whatever the reply calls its model. */
function finished({ config, deps }: Session, reply: Unpriced, started_ms: number): ModelReply {
  const now = deps.clock.now();
  return {
    ...reply,
    model: reply.model === '' ? config.id : reply.model,
    cost_usd: costUsd(reply.usage, pricesOf(config, now).prices),
    duration_ms: now - started_ms,
  };
}
