// The two sides of a change request, as the CI names them: the commit of the base, and what a stranger may have written.

import { fieldAt, readPayload } from './event-payload.ts';
import type { Env } from './merge.ts';

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

// GITHUB_SHA of these is a commit of the default or base branch, whoever set them off.
const ON_DEFAULT_BRANCH = new Set([
  'pull_request_target',
  'issues',
  'issue_comment',
  'discussion',
  'discussion_comment',
  'commit_comment',
  'fork',
  'gollum',
  'workflow_run',
]);
// GITHUB_SHA of these is the head merged into the base.
const ON_MERGE_COMMIT = new Set(['pull_request', 'pull_request_review', 'pull_request_review_comment']);

/** The commit on the trusted side of the event: of the base, or of the default branch; undefined when the CI names none. */
export function baseCommit(env: Env): string | undefined {
  const event = env['GITHUB_EVENT_NAME'];
  if (!event) return idOf(env['CI_MERGE_REQUEST_DIFF_BASE_SHA']);
  const base = idOf(fieldAt(readPayload(env), 'pull_request', 'base', 'sha'));
  return base ?? (ON_DEFAULT_BRANCH.has(event) ? idOf(env['GITHUB_SHA']) : undefined);
}

/** Commits that hold what the author of the event wrote. */
export function headCommits(env: Env): string[] {
  const payload = readPayload(env);
  const event = env['GITHUB_EVENT_NAME'] ?? '';
  const ids = [
    fieldAt(payload, 'pull_request', 'head', 'sha'),
    fieldAt(payload, 'pull_request', 'merge_commit_sha'),
    fieldAt(payload, 'workflow_run', 'head_sha'),
    ON_MERGE_COMMIT.has(event) ? env['GITHUB_SHA'] : undefined,
    env['CI_MERGE_REQUEST_SOURCE_PROJECT_ID'] ? env['CI_COMMIT_SHA'] : undefined,
    env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'],
    env['CHANGE_FORK'] ? env['GIT_COMMIT'] : undefined,
  ];
  const base = baseCommit(env);
  return ids.flatMap((id) => idOf(id) ?? []).filter((id) => id !== base);
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'string' && OBJECT_ID.test(value) ? value : undefined;
}
