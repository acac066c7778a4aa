import type { ModelConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { checkedUrl, headerValue, namedKey } from './credentials.ts';
import type { Env } from './proxy.ts';

const DEFAULT_URL = 'https://api.openai.com/v1';

/** Where requests go, and the key that goes with them; without a key no `authorization` is sent. */
export interface Access {
  base: URL;
  key: string | undefined;
  /** It is the provider's own service. */
  is_default: boolean;
}

/**
 * The task's address and its key. OPENAI_API_KEY is for the provider's own service alone: another address gets the key
 * that the task names for it, or none. No address comes from the environment. Throws UsageError.
 */
export function readAccess(config: ModelConfig, env: Env): Access {
  const base = checkedUrl(config.base_url ?? DEFAULT_URL, 'model.base_url');
  const is_default = base.origin === new URL(DEFAULT_URL).origin;
  if (config.api_key_env !== undefined) return { base, is_default, key: namedKey(config.api_key_env, env) };
  if (!is_default) return { base, is_default, key: undefined };
  const key = headerValue('OPENAI_API_KEY', env);
  if (key) return { base, is_default, key };
  throw new UsageError(
    `no credentials for ${config.id}: set OPENAI_API_KEY, or name another variable in model.api_key_env, or another endpoint in model.base_url`,
    { next: { first: 'set OPENAI_API_KEY' } },
  );
}
