import { isJsonObject } from '../core/json.ts';
import type { ApiFailure } from './api-failure.ts';
import type { Api } from './github-api.ts';

export type Author = { ok: true; login: string } | { ok: false; failure: ApiFailure };

/** The account that a token writes as; what the job's own token writes as where GitHub tells nobody. */
const JOB_ACCOUNT = 'github-actions[bot]';

/** Who wrote the comments that are ours: the account behind the token, as REST spells it in a comment's `user.login`. */
export async function findAuthor(
  api: Api,
  { token, graphql_url }: { token: string; graphql_url: string },
): Promise<Author> {
  const query = { query: '{ viewer { login } }' };
  const viewer = await api({ method: 'POST', path: graphql_url, body: query, repeatable: true });
  const data = viewer.ok && isJsonObject(viewer.body) ? viewer.body['data'] : undefined;
  const found = isJsonObject(data) && isJsonObject(data['viewer']) ? data['viewer']['login'] : undefined;
  if (typeof found === 'string' && found !== '') return { ok: true, login: spelled(found, token) };
  if (!viewer.ok && ['unauthorised', 'unavailable', 'rate_limited'].includes(viewer.failure.kind)) return viewer;
  const user = await api({ method: 'GET', path: '/user' });
  const login = user.ok && isJsonObject(user.body) ? user.body['login'] : undefined;
  if (typeof login === 'string' && login !== '') return { ok: true, login };
  // An installation's token has no user, and the usual one is the job's.
  if (isInstallation(token)) return { ok: true, login: JOB_ACCOUNT };
  if (!user.ok) return user;
  const message = 'GitHub does not say whose the token is, so that nobody knows which comment is ours';
  return { ok: false, failure: { kind: 'unexpected', message, uncertain: false } };
}

function spelled(login: string, token: string): string {
  return isInstallation(token) && !login.endsWith('[bot]') ? `${login}[bot]` : login;
}

function isInstallation(token: string): boolean {
  return token.startsWith('ghs_');
}
