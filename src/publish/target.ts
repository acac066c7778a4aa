// Where a comment goes: what the event is about.

import { fieldAt, readPayload } from '../config/event-payload.ts';
import { UsageError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { ApiFailure } from './api-failure.ts';
import type { Api, Env } from './github-api.ts';

export interface CommentTarget {
  /** "owner/name" */
  repository: string;
  place: { number: number } | HeadOfPull;
}

/** A pull request that is known by its head only. */
export interface HeadOfPull {
  /** "owner:branch" */
  head: string;
  sha: string;
}

const ON_PULL_REQUESTS = ['pull_request', 'pull_request_target', 'pull_request_review', 'pull_request_review_comment'];
const ON_ISSUES = ['issues', 'issue_comment'];
const OTHERWISE = 'set the input "comment" to false, or run the step on pull requests or issues';

/** What the event is about; throws UsageError when that is nothing that can be commented on. */
export function commentTarget(env: Env): CommentTarget {
  const repository = env['GITHUB_REPOSITORY'] ?? '';
  const event = env['GITHUB_EVENT_NAME'] ?? '';
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    throw wrong(`GITHUB_REPOSITORY is ${JSON.stringify(repository)}, expected owner/name`);
  }
  const isAbout = [...ON_PULL_REQUESTS, ...ON_ISSUES, 'workflow_run'].includes(event);
  if (!isAbout) throw wrong(`the event ${JSON.stringify(event)} is about no pull request or issue`);
  const payload = readPayload(env);
  if (payload === undefined) throw wrong('the payload of the event (GITHUB_EVENT_PATH) cannot be read');
  if (event === 'workflow_run') return { repository, place: ofWorkflowRun(payload) };
  const name = ON_ISSUES.includes(event) ? 'issue' : 'pull_request';
  const number = numberOf(fieldAt(payload, name, 'number'));
  if (number === undefined) throw wrong(`the payload of the event ${event} has no ${name}.number`);
  return { repository, place: { number } };
}

function wrong(cause: string): UsageError {
  return new UsageError(`a comment is asked for, but ${cause}; ${OTHERWISE}`);
}

/** GitHub lists no pull requests for a fork's run, so those are looked up by their head. */
function ofWorkflowRun(payload: unknown): CommentTarget['place'] {
  const run = (...keys: string[]): unknown => fieldAt(payload, 'workflow_run', ...keys);
  const listed = run('pull_requests');
  const own = fieldAt(payload, 'repository', 'id');
  const pulls = Array.isArray(listed) ? listed.filter((pull) => fieldAt(pull, 'base', 'repo', 'id') === own) : [];
  const numbers = pulls.flatMap((pull) => numberOf(fieldAt(pull, 'number')) ?? []);
  if (numbers.length > 1) {
    throw wrong(`the workflow run belongs to the pull requests ${numbers.join(', ')}, and nobody knows which is meant`);
  }
  if (numbers[0] !== undefined) return { number: numbers[0] };
  const [owner, branch, sha] = [run('head_repository', 'owner', 'login'), run('head_branch'), run('head_sha')];
  const isPull = ['pull_request', 'pull_request_target'].includes(String(run('event')));
  if (!isPull || typeof owner !== 'string' || typeof branch !== 'string' || typeof sha !== 'string') {
    throw wrong('the workflow run belongs to no pull request');
  }
  return { head: `${owner}:${branch}`, sha };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

export type Located = { ok: true; number: number } | { ok: false; failure: ApiFailure };

/** The number of what is commented on; a pull request that has moved on to another commit is none. */
export async function locate(api: Api, { repository, place }: CommentTarget): Promise<Located> {
  if ('number' in place) return { ok: true, number: place.number };
  const query = `state=open&per_page=100&head=${encodeURIComponent(place.head)}`;
  const answer = await api({ method: 'GET', path: `/repos/${repository}/pulls?${query}` });
  if (!answer.ok) return answer;
  const pulls = Array.isArray(answer.body) ? answer.body.filter(isJsonObject) : [];
  const numbers = pulls
    .filter((pull) => fieldAt(pull, 'head', 'sha') === place.sha)
    .flatMap((pull) => numberOf(pull['number']) ?? []);
  if (numbers.length === 1 && numbers[0] !== undefined) return { ok: true, number: numbers[0] };
  const message = `${numbers.length === 0 ? 'no open pull request' : 'more than one pull request'} of ${JSON.stringify(place.head)} stands at commit ${place.sha}`;
  return { ok: false, failure: { kind: 'not_found', message, uncertain: false } };
}
