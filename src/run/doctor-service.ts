import { errorText, UsageError } from '../core/errors.ts';
import { readAccess } from '../model/access.ts';
import { readBaseUrl } from '../model/credentials.ts';
import { createHttpFetch } from '../model/http-fetch.ts';
import type { ModelConfig } from '../core/config.ts';
import type { Check, DoctorRequest } from './doctor-check.ts';
import type { Env } from './place.ts';

/** The default provider, as a task that names only a model has it. */
const DEFAULT: ModelConfig = {
  provider: 'anthropic',
  id: 'the default provider',
  max_tokens: 1,
  tool_protocol: 'native',
  fallback: [],
};
const TIMEOUT_MS = 5000;

/** Whether there is a key for the default provider; its value is never part of the answer. */
export function keyCheck(env: Env): Check {
  try {
    const access = readAccess(DEFAULT, env);
    if ('tokens' in access)
      return { name: 'key', state: 'ok', text: `none: keyless access to ${access.tokens.origin}` };
    const variable = 'apiKey' in access ? 'ANTHROPIC_API_KEY' : 'ANTHROPIC_AUTH_TOKEN';
    return { name: 'key', state: 'ok', text: `${variable} is set` };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // Without one there are still tasks that can run: with a script, or with a variable of their own.
    return {
      name: 'key',
      state: hasKey(env) || env['ANTHROPIC_FEDERATION_RULE_ID']?.trim() ? 'fail' : 'warn',
      text: error.message,
    };
  }
}

function hasKey(env: Env): boolean {
  return ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].some((name) => env[name]?.trim());
}

/** Whether the service answers, whatever it says; the key is not sent. */
export async function serviceCheck({ env, offline }: Pick<DoctorRequest, 'env' | 'offline'>): Promise<Check> {
  const name = 'service';
  if (offline) return { name, state: 'skip', text: 'not asked: --offline' };
  if (!hasKey(env) && !env['ANTHROPIC_BASE_URL']?.trim()) {
    return { name, state: 'skip', text: 'not asked: neither a key nor ANTHROPIC_BASE_URL is set' };
  }
  try {
    const url = readBaseUrl(DEFAULT, env);
    const response = await createHttpFetch(url, env)(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    const text = `${url.host} answers (HTTP ${response.status})`;
    return { name, state: response.status < 500 ? 'ok' : 'warn', text };
  } catch (error) {
    // A UsageError names the variable that is wrong; a transport error the host and what the system said.
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    const mend = error instanceof UsageError ? {} : { mend: 'check the network, HTTPS_PROXY and ANTHROPIC_BASE_URL' };
    return { name, state: 'fail', text: `${errorText(error)}${cause}`, ...mend };
  }
}
