import { fieldAt, readPayload } from '../config/event-payload.ts';
import type { Env } from './github-api.ts';

/** The workflow run that a comment speaks for. */
export interface WorkflowRun {
  /** '' outside of one. */
  id: string;
  attempt: number;
  /** Its page; '' when nobody knows. */
  url: string;
  /** The commit that was looked at; '' when nobody knows. */
  commit: string;
}

/** The run that looked at the commit: of two jobs in two workflows the first, since only its number tells which commit is newer. */
export function workflowRun(env: Env): WorkflowRun {
  const payload = env['GITHUB_EVENT_NAME'] === 'workflow_run' ? readPayload(env) : undefined;
  const first = fieldAt(payload, 'workflow_run', 'id');
  const id = typeof first === 'number' ? String(first) : (env['GITHUB_RUN_ID'] ?? '');
  const again = fieldAt(payload, 'workflow_run', 'run_attempt');
  const attempt = typeof again === 'number' ? again : Number(env['GITHUB_RUN_ATTEMPT'] ?? 1) || 1;
  return { id: /^\d{1,30}$/.test(id) ? id : '', attempt, url: pageOf(env), commit: commitOf(env) };
}

/** The page of the run that publishes. */
function pageOf(env: Env): string {
  const [server = '', repository = '', id = ''] = [
    env['GITHUB_SERVER_URL'],
    env['GITHUB_REPOSITORY'],
    env['GITHUB_RUN_ID'],
  ];
  const isPlain = /^https?:\/\/[\w.:-]+$/.test(server) && /^[\w.-]+\/[\w.-]+$/.test(repository) && /^\d+$/.test(id);
  return isPlain ? `${server}/${repository}/actions/runs/${id}` : '';
}

function commitOf(env: Env): string {
  const payload = readPayload(env);
  const heads = [fieldAt(payload, 'pull_request', 'head', 'sha'), fieldAt(payload, 'workflow_run', 'head_sha')];
  const head = heads.find((value) => typeof value === 'string');
  if (typeof head === 'string') return head;
  // Elsewhere GITHUB_SHA is a commit of the default branch, which says nothing of an issue or a comment.
  return '';
}
