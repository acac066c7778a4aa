// GitHub's REST service for what we publish: bounded waits and retries, every refusal a value with a reason.

import { errorText } from '../core/errors.ts';
import { type JsonValue, parseJson } from '../core/json.ts';
import type { Clock } from '../core/ports.ts';
import { createHttpFetch, type Fetch } from '../model/http-fetch.ts';
import { isFinal } from '../model/transport-error.ts';
import { type ApiFailure, readFailure } from './api-failure.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface ApiAccess {
  token: string;
  /** Absolute, without a slash at the end. */
  url: string;
  graphql_url: string;
  env: Env;
  clock: Clock;
  signal: AbortSignal;
  /** One line for the log. */
  log: (text: string) => void;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with its query, or an absolute URL of the same service. */
  path: string;
  body?: JsonValue;
  /** Asked again after an answer that got lost; default: all but POST, which would be carried out twice. */
  repeatable?: boolean;
}

export type ApiAnswer = { ok: true; body: JsonValue; next: string | undefined } | { ok: false; failure: ApiFailure };

export type Api = (request: ApiRequest) => Promise<ApiAnswer>;

const ATTEMPTS = 4;
const REQUEST_MS = 20_000;
const FIRST_WAIT_MS = 1000;
/** All waits of one step together: a job's minutes are money. */
const MAX_WAIT_MS = 90_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** Talks to one GitHub; the token goes to no other origin, and no redirect is followed. */
export function createApi(access: ApiAccess): Api {
  const fetches = new Map<string, Fetch>();
  const fetchFor = (url: URL): Fetch => {
    const known = fetches.get(url.origin) ?? createHttpFetch(new URL(url.origin), access.env);
    fetches.set(url.origin, known);
    return known;
  };
  let waited_ms = 0;
  return async (request) => {
    const target = targetOf(access, request.path);
    if (!target.ok) return target;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await once(access, request, { url: target.url, fetch: fetchFor(target.url) });
      if (answer.ok) return answer;
      const wait_ms = waitBefore(answer, request, attempt);
      if (wait_ms === undefined || access.signal.aborted) return answer;
      if (waited_ms + wait_ms > MAX_WAIT_MS) return tooLong(answer, wait_ms);
      waited_ms += wait_ms;
      access.log(`${answer.failure.message}; asking again in ${Math.ceil(wait_ms / 1000)} s`);
      await access.clock.sleep(wait_ms, access.signal);
    }
  };
}

type Failed = { ok: false; failure: ApiFailure; retry_after_ms: number | undefined };

function targetOf(access: ApiAccess, path: string): { ok: true; url: URL } | { ok: false; failure: ApiFailure } {
  const url = new URL(path.startsWith('/') ? `${access.url}${path}` : path);
  if (url.origin === new URL(access.url).origin || path === access.graphql_url) return { ok: true, url };
  const message = `GitHub names a page at ${url.origin}, which is not ${new URL(access.url).origin}; it is not asked, since the token is for the latter`;
  return { ok: false, failure: { kind: 'unexpected', message, uncertain: false } };
}

async function once(
  access: ApiAccess,
  { method, path, body }: ApiRequest,
  { url, fetch }: { url: URL; fetch: Fetch },
): Promise<Exclude<ApiAnswer, { ok: false }> | Failed> {
  const what = `${method} ${url.pathname}`;
  try {
    const response = await fetch(url, {
      method,
      headers: headersOf(access.token, body),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([access.signal, AbortSignal.timeout(REQUEST_MS)]),
    });
    const text = await readText(response);
    const parsed = parseJson(text);
    if (response.status < 200 || response.status > 299) {
      return readFailure({
        status: response.status,
        headers: response.headers,
        text,
        what,
        now_ms: access.clock.now(),
      });
    }
    if (text !== '' && !parsed.ok) {
      return refused('unavailable', `${what}: GitHub answered with something that is no JSON`);
    }
    return { ok: true, body: parsed.ok ? parsed.value : null, next: nextPage(response.headers.get('link')) };
  } catch (cause) {
    // A connection that cannot be made, breaks or takes too long, or a proxy that says no.
    const cancelled = access.signal.aborted ? ' before the step was cancelled' : '';
    const message = `${method} ${path.startsWith('/') ? path : url.pathname}: ${errorText(cause)}${cancelled}`;
    // A token with a line break, a certificate that is not trusted: the next attempt meets the same wall.
    return refused(isFinal(cause) ? 'unexpected' : 'unavailable', message);
  }
}

function refused(kind: ApiFailure['kind'], message: string): Failed {
  return { ok: false, failure: { kind, message, uncertain: true }, retry_after_ms: undefined };
}

function headersOf(token: string, body: JsonValue | undefined): Record<string, string> {
  return {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'user-agent': 'agent-run',
    'x-github-api-version': '2022-11-28',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> =
    response.body ?? new ReadableStream<Uint8Array>({ start: (end) => end.close() });
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new Error(`an answer above ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function nextPage(link: string | null): string | undefined {
  return /<([^>]+)>\s*;[^,]*\brel="next"/.exec(link ?? '')?.[1];
}

/** How long to wait before the same request is worth another attempt; undefined: it is not. */
function waitBefore({ failure, retry_after_ms }: Failed, request: ApiRequest, attempt: number): number | undefined {
  if (attempt >= ATTEMPTS) return undefined;
  if (failure.kind === 'rate_limited') return retry_after_ms ?? FIRST_WAIT_MS * 2 ** attempt;
  const repeatable = request.repeatable ?? request.method !== 'POST';
  if (failure.kind !== 'unavailable' || !repeatable) return undefined;
  return retry_after_ms ?? FIRST_WAIT_MS * 2 ** (attempt - 1);
}

function tooLong({ failure }: Failed, wait_ms: number): ApiAnswer {
  const message = `${failure.message}; it would take another ${Math.ceil(wait_ms / 1000)} s, longer than a step waits`;
  return { ok: false, failure: { ...failure, message } };
}
