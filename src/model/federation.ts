// Keyless access: an identity token of the job is exchanged for an access token of a few minutes, again and again.

import { UsageError } from '../core/errors.ts';
import { isJsonObject, parseJson } from '../core/json.ts';
import { CLAUDE_API } from './credentials.ts';
import { quote } from './failure.ts';
import { FederationError } from './federation-error.ts';
import { createHttpFetch } from './http-fetch.ts';
import { checkedTokenUrl, identitySource, type IdentitySource } from './identity-token.ts';
import type { Env } from './proxy.ts';
import { isFinal } from './transport-error.ts';

export interface AccessTokens {
  /** Tokens are for this service and no other. */
  readonly origin: string;
  /** A token for the next request, exchanged when the last one ends soon. Throws FederationError. */
  get(at: TokenRequest): Promise<string>;
  /** The service did not take this token: the next one is new, whatever its time says. */
  refuse(token: string): void;
  /** Every token so far, to be kept out of texts. */
  seen(): readonly string[];
}

export interface TokenRequest {
  now_ms: number;
  signal: AbortSignal;
  /** Hears of each secret before it is used. */
  onSecret?: ((value: string) => void) | undefined;
}

interface Held {
  token: string;
  ends_ms: number;
  life_ms: number;
}

interface Exchange {
  ids: { federationRuleId: string; organizationId: string; serviceAccountId?: string; workspaceId?: string };
  base: URL;
  identity: IdentitySource;
  fetch: ReturnType<typeof createHttpFetch>;
}

const RENEW_BEFORE_MS = 120_000;
const USABLE_MS = 30_000;
const PATIENCE_MS = 15_000;
/** What goes into a header as it is. */
const HEADER_TOKEN = /^[\x21-\x7e]{8,}$/;
const RULE = 'ANTHROPIC_FEDERATION_RULE_ID';
const ORGANIZATION = 'ANTHROPIC_ORGANIZATION_ID';
/** An identity token is good for one exchange, so whoever shares an environment shares its access token. */
const SHARED = new WeakMap<Env, AccessTokens>();

/** The tokens that the environment's federation rule admits to; undefined when it names none. Throws UsageError. */
export function federatedTokens(env: Env): AccessTokens | undefined {
  const ids = readIds(env);
  if (!ids) return undefined;
  const shared = SHARED.get(env);
  if (shared) return shared;
  const ambient = env['ANTHROPIC_BASE_URL']?.trim();
  const base = checkedTokenUrl(ambient || CLAUDE_API, 'ANTHROPIC_BASE_URL');
  const tokens = createTokens({ ids, base, identity: identitySource(env), fetch: createHttpFetch(base, env) });
  SHARED.set(env, tokens);
  return tokens;
}

function readIds(env: Env): Exchange['ids'] | undefined {
  const value = (name: string): string => env[name]?.trim() ?? '';
  const [federationRuleId, organizationId] = [value(RULE), value(ORGANIZATION)];
  if (federationRuleId === '') return undefined;
  if (organizationId === '')
    throw new UsageError(`${RULE} is set, but ${ORGANIZATION} is not; set both, or give a key`);
  const [account, workspace] = [value('ANTHROPIC_SERVICE_ACCOUNT_ID'), value('ANTHROPIC_WORKSPACE_ID')];
  return {
    federationRuleId,
    organizationId,
    ...(account === '' ? {} : { serviceAccountId: account }),
    ...(workspace === '' ? {} : { workspaceId: workspace }),
  };
}

function createTokens(exchange: Exchange): AccessTokens {
  const minted: string[] = [];
  let held: Held | undefined;
  let pending: Promise<Held> | undefined;
  const renew = ({ now_ms, onSecret }: TokenRequest): Promise<Held> =>
    (pending ??= exchangeOnce(exchange, onSecret)
      .then(({ token, life_ms }) => {
        minted.push(token);
        return (held = { token, life_ms, ends_ms: now_ms + life_ms });
      })
      .finally(() => (pending = undefined)));
  return {
    origin: exchange.base.origin,
    async get(at) {
      const left_ms = held ? held.ends_ms - at.now_ms : 0;
      if (held && left_ms > Math.min(RENEW_BEFORE_MS, held.life_ms / 2)) return held.token;
      try {
        return (await unlessAborted(renew(at), at.signal)).token;
      } catch (error) {
        // A FederationError: a renewal that is early may fail, the token in hand still works.
        if (held && left_ms > USABLE_MS && error instanceof FederationError) return held.token;
        throw error;
      }
    },
    refuse(token) {
      if (held?.token === token) held = undefined;
    },
    seen: () => minted,
  };
}

async function exchangeOnce(
  { ids, base, identity, fetch }: Exchange,
  onSecret?: (value: string) => void,
): Promise<{ token: string; life_ms: number }> {
  const { oidcFederationProvider } = await import('@anthropic-ai/sdk/lib/credentials/oidc-federation');
  const jwt = await identity();
  onSecret?.(jwt);
  const seen: { response?: Response; unreached?: unknown } = {};
  const provider = oidcFederationProvider({
    ...ids,
    baseURL: base.href.replace(/\/$/, ''),
    identityTokenProvider: () => jwt,
    async fetch(url, init) {
      try {
        return (seen.response = await fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) }));
      } catch (error) {
        seen.unreached = error;
        throw error;
      }
    },
  });
  try {
    const { token, expiresAt } = await provider();
    if (!HEADER_TOKEN.test(token)) throw new Error('its access token holds what no header may have');
    onSecret?.(token);
    // The SDK counts from the machine's clock; only the difference is meant.
    return { token, life_ms: expiresAt === null ? Infinity : expiresAt * 1000 - Date.now() };
  } catch (error) {
    throw refusal(error, { jwt, rule: ids.federationRuleId, base, ...seen });
  }
}

interface Refusal {
  jwt: string;
  rule: string;
  base: URL;
  response?: Response;
  unreached?: unknown;
}

/** What a failed exchange means; an SDK error quotes the standard's error fields alone. */
function refusal(error: unknown, { jwt, rule, base, response, unreached }: Refusal): FederationError {
  if (!response) {
    return new FederationError(`the token endpoint of ${base.host} did not answer`, {
      retry: !isFinal(unreached),
      cause: unreached ?? error,
    });
  }
  const { status } = response;
  const retry = status === 408 || status === 429 || status >= 500;
  const said = quote(error instanceof Error ? error.message.replace(/ Ensure your federation rule .*$/s, '') : '');
  const text = `${base.host} did not exchange the job's identity token for an access token: ${said}`;
  if (retry || response.ok) return new FederationError(text, { retry, status });
  const claims = claimsOf(jwt);
  const told = ['iss', 'sub', 'aud'].map((name) => `${name} ${JSON.stringify(claims[name] ?? null)}`).join(', ');
  const next = skewOf(claims, response) ?? `check that the rule ${rule} matches this token: ${told}`;
  return new FederationError(`${text}; ${next}`, { status });
}

/** What the service checks a token by; {} for what is no token. */
function claimsOf(jwt: string): Record<string, unknown> {
  const claims = parseJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return claims.ok && isJsonObject(claims.value) ? claims.value : {};
}

/** A token that is not valid at the service's time, by the clock in its answer. */
function skewOf(claims: Record<string, unknown>, response: Response): string | undefined {
  const now = Date.parse(response.headers.get('date') ?? '') / 1000;
  const from = Number(claims['nbf'] ?? claims['iat']);
  const seconds = (value: number): string => `${Math.round(value)} s`;
  if (from - now > 5)
    return `the token is valid only ${seconds(from - now)} after the service's time: set the clock of the machine that makes tokens`;
  const ended = now - Number(claims['exp']);
  if (ended > 5)
    return `the token ended ${seconds(ended)} before the service's time: hand out a fresh one, or set the clock of the machine that makes tokens`;
  return undefined;
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new FederationError('stopped before the access token came'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
