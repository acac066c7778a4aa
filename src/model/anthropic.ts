import { Console } from 'node:console';
import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { ModelConfig, ServerToolConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import type { ModelClient, ModelReply, ModelRequest, Redact, SendHooks } from '../core/ports.ts';
import { costUsd } from '../core/usage.ts';
import { type Authorization, authorizationOf, readAccess } from './access.ts';
import { attemptFailure } from './anthropic-failure.ts';
import { streamFailure } from './attempt-failure.ts';
import type { Connection } from './connection.ts';
import { checkCustomHeaders, customBetas, readBaseUrl } from './credentials.ts';
import type { Credential } from './credentials.ts';
import type { Service } from './failure.ts';
import type { TokenRequest } from './federation.ts';
import { createHttpFetch } from './http-fetch.ts';
import { factsFor, pricesOf, pricesOfAnswer, summarizes } from './pricing.ts';
import type { ModelFacts } from './pricing.ts';
import type { Env } from './proxy.ts';
import { readReply } from './read-reply.ts';
import { ReplyReader } from './reply-reader.ts';
import { estimatedBytes } from './reply-usage.ts';
import { betasOf, createRequestWriter } from './request-body.ts';
import type { RequestShape } from './request-body.ts';
import { reported, sendWithRetries } from './retry.ts';
import type { AttemptResult, RetryDeps } from './retry.ts';
import { serverToolText } from './server-tools.ts';
import { createUnseenMedia, type UnseenMedia } from './unseen-media.ts';
import { watchAttempt } from './watch.ts';

export interface AnthropicDeps extends RetryDeps {
  env: Env;
  /** The longest silence on a connection, from the request to the last event. */
  idle_timeout_ms: number;
  redact: Redact;
  /** Hears of secrets that come up in mid-run, before they are used. */
  onSecret?: ((value: string) => void) | undefined;
  /** Tools that the service runs; absent: none. */
  server_tools?: readonly ServerToolConfig[];
}

/** What every attempt of a client needs. */
interface Session {
  config: ModelConfig;
  deps: AnthropicDeps;
  sdk: BaseAnthropic;
  service: Service;
  authorization: Authorization;
  path: string;
}

// The SDK's own timer must not be first: its error does not say what it waited for.
const SDK_TIMEOUT_MARGIN_MS = 5_000;

/** A client of the Messages API. Throws UsageError for missing credentials and for ranges the API fixes. */
export function createAnthropicClient(config: ModelConfig, given: AnthropicDeps, other?: Connection): ModelClient {
  const facts = factsFor(config.provider, config.id);
  checkMaxTokens(config, facts);
  const { base, platform, ...connection } = other ?? connect(config, given.env);
  const { authorization } = connection;
  checkCustomHeaders(given.env);
  const deps = { ...given, redact: authorization.hiding(given.redact) };
  const service = { provider: 'anthropic', base_url: base.origin + base.pathname.replace(/\/$/, ''), model: config.id };
  const session = { config, deps, service, ...connection };
  const write = createRequestWriter(shapeOf(config, deps, platform));
  const unseen = createUnseenMedia();
  const known = pricesOf(config, deps.clock.now());
  const max_output_tokens = facts?.max_output_tokens ?? null;
  return {
    id: config.id,
    ...known,
    max_output_tokens,
    context_tokens: facts?.context_tokens ?? null,
    summarizes: summarizes(config),
    diagnoses_cache: config.claude_api === true,
    send(request, hooks, signal) {
      // A fallback model may take less than the model the request was made for.
      const max_tokens = Math.min(request.max_tokens, max_output_tokens ?? Infinity);
      const betas = [...customBetas(deps.env), ...authorization.betas, ...betasOf(request)];
      const compose = (): Outgoing => {
        const messages = unseen.shown(request.messages);
        const body = write({ ...request, messages, max_tokens });
        return { body, betas, request_bytes: estimatedBytes(body, messages) };
      };
      const attempt = seeingLess(session, { unseen, compose, request, hooks, signal });
      return sendWithRetries({ model: config.id, prices: known.prices, attempt }, deps, hooks, signal);
    },
  };
}

/** What stays the same in every request. */
function shapeOf(config: ModelConfig, deps: AnthropicDeps, platform: Connection['platform']): RequestShape {
  return {
    model: config.id,
    ...(platform === undefined ? {} : { platform }),
    adaptive_thinking: factsFor(config.provider, config.id)?.thinking === 'adaptive',
    ...(config.thinking_display === undefined ? {} : { thinking_display: config.thinking_display }),
    diagnostics: config.claude_api === true,
    server_tools: (deps.server_tools ?? []).map(serverToolText),
    ...(config.effort === undefined ? {} : { effort: config.effort }),
  };
}

interface Turn {
  unseen: UnseenMedia;
  compose: () => Outgoing;
  request: ModelRequest;
  hooks: SendHooks;
  signal: AbortSignal;
}

/** One attempt; a refusal of images or documents is answered by asking without them, and recorded. */
function seeingLess(session: Session, { unseen, compose, request, hooks, signal }: Turn): () => Promise<AttemptResult> {
  let outgoing = compose();
  let number = 0;
  return async () => {
    number += 1;
    for (;;) {
      const result = await sendOnce(session, outgoing, hooks, signal);
      if (result.ok || !unseen.hide(result.failure, request.messages)) return result;
      outgoing = compose();
      if (signal.aborted || hooks.admit()) return result;
      const max_attempts = session.deps.max_retries + 1;
      const told = { attempt: number, max_attempts, model: session.config.id, wait_ms: 0 };
      hooks.onAttempt({ ...told, ...reported(result.failure) });
    }
  };
}

/** A connection to the API itself, or to a gateway that takes its form. */
function connect(config: ModelConfig, env: Env): Connection {
  const base = readBaseUrl(config, env);
  const authorization = authorizationOf(readAccess(config, env));
  return { base, path: '/v1/messages', authorization, sdk: createSdk(base, authorization.credential, env) };
}

/** What the service says of a model, as it says it; throws what the SDK, the network or a missing key throws. */
export async function retrieveModel(
  config: ModelConfig,
  env: Env,
  { signal, onSecret }: Omit<TokenRequest, 'now_ms'>,
): Promise<unknown> {
  const authorization = authorizationOf(readAccess(config, env));
  const sdk = createSdk(readBaseUrl(config, env), authorization.credential, env);
  return sdk.get<unknown>(`/v1/models/${encodeURIComponent(config.id)}`, {
    signal,
    maxRetries: 0,
    headers: {
      ...(await authorization.headers({ now_ms: Date.now(), signal, onSecret })),
      ...betaHeader(authorization.betas),
    },
  });
}

function checkMaxTokens({ id, max_tokens }: ModelConfig, facts: ModelFacts | undefined): void {
  const most = facts?.max_output_tokens ?? Number.MAX_SAFE_INTEGER;
  if (Number.isInteger(max_tokens) && max_tokens >= 1 && max_tokens <= most) return;
  const range = facts ? `between 1 and ${most}` : 'at least 1';
  throw new UsageError(`model.max_tokens is ${max_tokens}; ${id} takes a whole number ${range}`);
}

function createSdk(base: URL, credential: Credential, env: Env): BaseAnthropic {
  return new BaseAnthropic({
    ...credential,
    baseURL: base.href,
    webhookKey: null,
    maxRetries: 0,
    fetch: createHttpFetch(base, env),
    openTelemetry: false,
    // Its default logger writes to stdout, and its debug level whole prompts.
    logger: new Console(process.stderr, process.stderr),
    logLevel: 'warn',
  });
}

function betaHeader(betas: readonly string[]): Record<string, string> {
  return betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') };
}

interface Outgoing {
  body: Buffer;
  betas: readonly string[];
  request_bytes: number;
}

async function sendOnce(
  session: Session,
  { body, betas, request_bytes }: Outgoing,
  hooks: SendHooks,
  outer: AbortSignal,
): Promise<AttemptResult> {
  const { deps, sdk, service, authorization, path } = session;
  const started_ms = deps.clock.now();
  const watch = watchAttempt(outer, deps.idle_timeout_ms, deps.deadline());
  const reader = new ReplyReader({
    redact: deps.redact,
    onBlock: (block) => hooks.onBlock(block),
    onText: (text, block) => hooks.onText?.(text, block),
    request_bytes,
  });
  const context = { reader, watch, service, now_ms: started_ms, ...deps };
  try {
    const auth = await authorization.headers({ ...deps, now_ms: started_ms, signal: watch.signal });
    const response = await sdk
      .post(path, {
        body,
        headers: { 'content-type': 'application/json', ...auth, ...betaHeader(betas) },
        signal: watch.signal,
        maxRetries: 0,
        timeout: deps.idle_timeout_ms + SDK_TIMEOUT_MARGIN_MS,
        stream: true,
      })
      .asResponse();
    const fault = await readReply(response, reader, () => watch.alive());
    if (fault) return { ok: false, offered: reader.offered, failure: streamFailure(fault, response, context) };
    authorization.accepted();
    const request_id = response.headers.get('request-id') ?? response.headers.get('x-amzn-requestid');
    return { ok: true, reply: finished(session, reader, started_ms, request_id) };
  } catch (error) {
    // Errors of the connection and statuses that are no success; attemptFailure throws what is neither.
    return { ok: false, offered: reader.offered, failure: authorization.judged(attemptFailure(error, context)) };
  } finally {
    watch.end(!reader.done);
  }
}

function finished(session: Session, reader: ReplyReader, started_ms: number, request_id: string | null): ModelReply {
  const { config, deps } = session;
  const read = reader.reply();
  const now = deps.clock.now();
  return {
    ...read,
    model: read.model === '' ? config.id : read.model,
    ...(request_id === null ? {} : { request_id }),
    cost_usd: costUsd(read.usage, pricesOfAnswer(config, read.model, now)),
    duration_ms: now - started_ms,
  };
}
