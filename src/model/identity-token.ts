// Where the identity token of a keyless run comes from: GitHub mints one on request, other systems hand one out.

import { readFileSync } from 'node:fs';
import { UsageError } from '../core/errors.ts';
import { isJsonObject, parseJson } from '../core/json.ts';
import { CLAUDE_API, checkedUrl, headerValue } from './credentials.ts';
import { FederationError } from './federation-error.ts';
import { createHttpFetch } from './http-fetch.ts';
import { quote } from './failure.ts';
import type { Env } from './proxy.ts';
import { isFinal } from './transport-error.ts';

/** A JSON Web Token that was not handed out before, for it can be exchanged only once. Throws FederationError. */
export type IdentitySource = () => Promise<string>;

const PATIENCE_MS = 10_000;
const REQUEST_URL = 'ACTIONS_ID_TOKEN_REQUEST_URL';
const REQUEST_TOKEN = 'ACTIONS_ID_TOKEN_REQUEST_TOKEN';
const PERMISSION = 'add "permissions: id-token: write" to the job (a pull request from a fork never gets it)';

/** The first source that the environment names. Throws UsageError when it names none. */
export function identitySource(env: Env): IdentitySource {
  const file = env['ANTHROPIC_IDENTITY_TOKEN_FILE']?.trim();
  if (file) return once(() => readFile(file), `the file ${file} that ANTHROPIC_IDENTITY_TOKEN_FILE names`);
  const token = headerValue('ANTHROPIC_IDENTITY_TOKEN', env);
  if (token) return once(() => token, 'ANTHROPIC_IDENTITY_TOKEN');
  const url = env[REQUEST_URL]?.trim();
  const bearer = headerValue(REQUEST_TOKEN, env);
  if (url && bearer) return fromGitHub(checkedTokenUrl(url, REQUEST_URL), bearer, env);
  const mend =
    env['GITHUB_ACTIONS'] === 'true'
      ? `the job may not ask for an identity token: ${PERMISSION}`
      : 'there is no identity token: set ANTHROPIC_IDENTITY_TOKEN_FILE or ANTHROPIC_IDENTITY_TOKEN';
  throw new UsageError(`ANTHROPIC_FEDERATION_RULE_ID is set, but ${mend}; or give a key instead`);
}

/** An address that may see a token: TLS, or this machine. Throws UsageError. */
export function checkedTokenUrl(text: string, from: string): URL {
  const url = checkedUrl(text, from);
  if (url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)) return url;
  throw new UsageError(`${from} is an http address, and no token is sent without TLS; write it as https://HOST`);
}

/** Hands a token out once: the service takes no token twice, and says nothing but 401 when it sees one again. */
function once(read: () => string, from: string): IdentitySource {
  let last: string | undefined;
  return async () => {
    const token = read();
    if (token === '') throw new FederationError(`${from} is empty; expected a JSON Web Token`);
    if (token === last)
      throw new FederationError(
        `${from} still holds the identity token that was exchanged already, and each is good for one exchange; write a fresh one there before the access token ends, or shorten the run`,
      );
    last = token;
    return token;
  };
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    // ENOENT, EACCES: a file that is not there yet, or not ours.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error';
    throw new FederationError(
      `the identity token cannot be read from ${file} (${code}); check ANTHROPIC_IDENTITY_TOKEN_FILE`,
    );
  }
}

function fromGitHub(url: URL, bearer: string, env: Env): IdentitySource {
  const fetch = createHttpFetch(url, env);
  const target = new URL(url);
  // The audience that rules expect, whatever address the service is reached at.
  target.searchParams.set('audience', CLAUDE_API);
  const headers = { authorization: `Bearer ${bearer}`, accept: 'application/json' };
  return async () => {
    const response = await fetch(target, { headers, signal: AbortSignal.timeout(PATIENCE_MS) }).catch((cause) => {
      throw new FederationError(`GitHub's token service at ${url.host} did not answer`, {
        retry: !isFinal(cause),
        cause,
      });
    });
    const text = await response.text().catch(() => ''); // a body that breaks off is no token
    const { status } = response;
    if (status === 200) return tokenIn(text, url);
    const retry = status === 408 || status === 429 || status >= 500;
    const mend = retry ? '' : `; ${PERMISSION}`;
    throw new FederationError(`GitHub's token service at ${url.host} answered ${status}: ${quote(text)}${mend}`, {
      retry,
      status,
    });
  };
}

function tokenIn(text: string, { host }: URL): string {
  const answer = parseJson(text);
  const token = answer.ok && isJsonObject(answer.value) ? answer.value['value'] : undefined;
  if (typeof token === 'string' && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return token;
  throw new FederationError(`GitHub's token service at ${host} answered 200 without an identity token`, {
    retry: true,
    status: 200,
  });
}
