// Whether the workspace was written by a stranger: what the CI says of the event, never the task.

import { fieldAt, readPayload } from './event-payload.ts';
import type { Env } from './merge.ts';

// Anybody who can open an issue, write a comment, fork or edit an open wiki chooses the words of these events.
const STRANGERS_EVENTS = new Set([
  'pull_request_target',
  'issues',
  'issue_comment',
  'pull_request_review',
  'pull_request_review_comment',
  'discussion',
  'discussion_comment',
  'commit_comment',
  'fork',
  'gollum',
]);

/** Why the run is untrusted, in words for the log; undefined when nothing says so. */
export function untrustedReason(env: Env): string | undefined {
  return githubReason(env) ?? gitlabReason(env) ?? jenkinsReason(env);
}

function githubReason(env: Env): string | undefined {
  const event = env['GITHUB_EVENT_NAME'];
  if (!event) return undefined;
  if (STRANGERS_EVENTS.has(event)) return `the event ${event}`;
  if (event !== 'pull_request' && event !== 'workflow_run') return undefined;
  const payload = readPayload(env);
  // Without the payload nobody knows whose head this is.
  if (payload === undefined) return `the event ${event}, whose payload cannot be read`;
  const [head, base] =
    event === 'pull_request'
      ? [
          fieldAt(payload, 'pull_request', 'head', 'repo', 'full_name'),
          fieldAt(payload, 'pull_request', 'base', 'repo', 'full_name'),
        ]
      : [fieldAt(payload, 'workflow_run', 'head_repository', 'full_name'), fieldAt(payload, 'repository', 'full_name')];
  if (fieldAt(payload, event) === undefined) return `the event ${event}, whose payload has no ${event}`;
  // A fork that was deleted has no name any more.
  return typeof head === 'string' && head === base ? undefined : `the event ${event} from a fork`;
}

function gitlabReason(env: Env): string | undefined {
  const source = env['CI_MERGE_REQUEST_SOURCE_PROJECT_ID'];
  if (!source) return undefined;
  return source === (env['CI_MERGE_REQUEST_PROJECT_ID'] ?? env['CI_PROJECT_ID'])
    ? undefined
    : 'a merge request from a fork';
}

function jenkinsReason(env: Env): string | undefined {
  return env['CHANGE_FORK'] ? 'a change request from a fork' : undefined;
}
