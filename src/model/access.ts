// Who a client of the Messages API says it is, request by request: a key that stays, or tokens that end.

import type { ModelConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import type { Redact } from '../core/ports.ts';
import { type Credential, readBaseUrl, readCredential } from './credentials.ts';
import type { AttemptFailure } from './failure.ts';
import { federatedTokens, type AccessTokens, type TokenRequest } from './federation.ts';
import type { Env } from './proxy.ts';

export type Access = Credential | { tokens: AccessTokens };

export interface Authorization {
  /** What the SDK's client is made with. */
  credential: Credential;
  /** What a token needs to be taken. */
  betas: readonly string[];
  /** Headers of the next request; empty where the SDK sends the key itself. Throws FederationError. */
  headers(at: TokenRequest): Promise<Record<string, string>>;
  /** The reply came: the token is good. */
  accepted(): void;
  /** The same failure, unless a fresh token may mend it: then it is to be tried again at once, and no second time. */
  judged(failure: AttemptFailure): AttemptFailure;
  /** The run's redaction knows a key by its variable's name; this one hides whatever is sent. */
  hiding(redact: Redact): Redact;
}

const SHORTEST_KEY_TO_HIDE = 8;
const OAUTH_BETA = 'oauth-2025-04-20';
/** The SDK wants a key at all times; the header of each request goes before it. */
const NO_KEY: Credential = { apiKey: 'none' };

/** The key, or the tokens that the environment's federation rule admits to. Throws UsageError for neither. */
export function readAccess(config: ModelConfig, env: Env): Access {
  const hasKey = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].some((name) => env[name]?.trim());
  const tokens = hasKey || config.api_key_env !== undefined ? undefined : federatedTokens(env);
  if (!tokens) return readCredential(config, env);
  const { origin } = readBaseUrl(config, env);
  if (origin === tokens.origin) return { tokens };
  throw new UsageError(
    `the task's model.base_url leads to ${origin}, and access tokens are for ${tokens.origin} only; name the key of that address in model.api_key_env, or set ANTHROPIC_BASE_URL to it`,
  );
}

export function authorizationOf(access: Access): Authorization {
  return 'tokens' in access ? byTokens(access.tokens) : byKey(access);
}

function byKey(credential: Credential): Authorization {
  const key = 'apiKey' in credential ? credential.apiKey : credential.authToken;
  return {
    credential,
    betas: [],
    headers: async () => ({}),
    accepted: () => {},
    judged: (failure) => failure,
    hiding: (redact) =>
      key.length < SHORTEST_KEY_TO_HIDE ? redact : (text) => redact(text).replaceAll(key, '[redacted]'),
  };
}

function byTokens(tokens: AccessTokens): Authorization {
  let used = '';
  let mending = false;
  return {
    credential: NO_KEY,
    betas: [OAUTH_BETA],
    async headers(at) {
      used = await tokens.get(at);
      return { authorization: `Bearer ${used}` };
    },
    accepted: () => void (mending = false),
    judged(failure) {
      if (failure.status !== 401 || failure.error_type === 'federation') return failure;
      tokens.refuse(used);
      if (mending) {
        const next = 'a fresh access token was refused too; check the workspace and the service account of the rule';
        return { ...failure, retry: false, message: `${failure.message}; ${next}` };
      }
      mending = true;
      return { ...failure, retry: true, renewed: true };
    },
    hiding: (redact) => (text) =>
      tokens.seen().reduce((hidden, token) => hidden.replaceAll(token, '[redacted]'), redact(text)),
  };
}
