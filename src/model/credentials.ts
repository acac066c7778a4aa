import type { ModelConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { factsFor } from './pricing.ts';
import type { Env } from './proxy.ts';

/** How a client proves who it is: as the key or the token of the SDK's option of that name. */
export type Credential = { apiKey: string } | { authToken: string };

// What an HTTP header value may hold.
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;
export const CLAUDE_API = 'https://api.anthropic.com';

/** The key from the environment, trimmed; its value never appears in the error. */
export function readCredential(config: ModelConfig, env: Env): Credential {
  if (config.api_key_env !== undefined) return { apiKey: namedKey(config.api_key_env, env) };
  const apiKey = headerValue('ANTHROPIC_API_KEY', env);
  if (apiKey) return { apiKey };
  const authToken = headerValue('ANTHROPIC_AUTH_TOKEN', env);
  if (authToken) return { authToken };
  const isKnown = config.base_url !== undefined || config.id.startsWith('claude') || factsFor('anthropic', config.id);
  const other = isKnown ? '' : `; a model of another provider is written PROVIDER/ID: "openai/${config.id}"`;
  throw new UsageError(
    `no credentials for ${config.id}: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_FEDERATION_RULE_ID for keyless access, or name another variable in model.api_key_env${other}`,
    { next: { first: 'set ANTHROPIC_API_KEY' } },
  );
}

/** The key in the variable that the task names. Throws UsageError when there is none. */
export function namedKey(name: string, env: Env): string {
  // With it any service could make tokens in the job's name.
  if (name.startsWith('ACTIONS_'))
    throw new UsageError(`model.api_key_env names ${name}, which is no key of a model service`);
  const key = headerValue(name, env);
  if (key) return key;
  throw new UsageError(
    `the environment variable ${name}, named in model.api_key_env, is not set; set it to the API key`,
    { next: { first: `set ${name}` } },
  );
}

/** The task's base URL, else the provider's own variable, else the service itself. */
export function readBaseUrl(config: ModelConfig, env: Env): URL {
  const ambient = env['ANTHROPIC_BASE_URL']?.trim();
  const text = config.base_url ?? (ambient || CLAUDE_API);
  const from = config.base_url === undefined ? 'ANTHROPIC_BASE_URL' : 'model.base_url';
  return checkedUrl(text, from);
}

/** A base URL from the field or variable `from`. Throws UsageError for what is none, or holds a password. */
export function checkedUrl(text: string, from: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new UsageError(`${from} is not an http or https URL; write it as https://HOST`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`${from} holds a user or password; put the key into the environment instead`);
  }
  return url;
}

/** Refuses what the SDK would put into headers by itself and then quote in an exception. */
export function checkCustomHeaders(env: Env, variable = 'ANTHROPIC_CUSTOM_HEADERS'): void {
  const lines = (env[variable] ?? '').split('\n');
  if (lines.every((line) => HEADER_TEXT.test(line.trim()))) return;
  throw new UsageError(`${variable} holds a character that no header has; write one "Name: value" a line`);
}

/** Beta features that the environment asks for by itself; ours are named beside them, not instead. */
export function customBetas(env: Env): string[] {
  const lines = (env['ANTHROPIC_CUSTOM_HEADERS'] ?? '').split('\n');
  const values = lines.flatMap((line) => /^\s*anthropic-beta\s*:(.*)$/i.exec(line)?.[1]?.split(',') ?? []);
  return values.map((value) => value.trim()).filter((value) => value !== '');
}

/** A variable as a header may hold it, trimmed; '' when it is not set. */
export function headerValue(name: string, env: Env): string {
  const value = env[name]?.trim() ?? '';
  if (HEADER_TEXT.test(value)) return value;
  throw new UsageError(
    `the environment variable ${name} holds a line break or another character that no key has; paste the key again`,
  );
}
