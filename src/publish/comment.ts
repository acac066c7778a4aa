// One comment for a task, found again by its marker and kept up to date.

import { fieldAt } from '../config/event-payload.ts';
import type { CommentConfig, FindingsMap } from '../core/config.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import type { ResultFile } from '../run/result.ts';
import { findAuthor } from './author.ts';
import { commentBody } from './comment-body.ts';
import type { ApiFailure } from './api-failure.ts';
import { type Api, type ApiAccess, createApi } from './github-api.ts';
import { compareMarkers, type Marker, readMarker } from './marker.ts';
import { type CommentTarget, locate } from './target.ts';
import type { WorkflowRun } from './workflow-run.ts';

export interface CommentRequest {
  access: ApiAccess;
  target: CommentTarget;
  comment: CommentConfig;
  /** Tells comments of the same task apart. */
  key: string;
  workflow: WorkflowRun;
  result: ResultFile;
  /** False: the run never read its task, so that its comment is known by the task's file. */
  task_known: boolean;
  findings: FindingsMap | undefined;
  inputs: Readonly<Record<string, string>>;
  /** Only in the place of an earlier comment. */
  only_replace: boolean;
}

/** `superseded`: a newer run has the word; `none`: there was nothing to replace. `url` is '' when there is no comment. */
export type Commented =
  | { ok: true; what: 'posted' | 'updated' | 'superseded' | 'none'; url: string }
  | { ok: false; reason: string };

interface Found {
  id: number;
  url: string;
  marker: Marker;
}

interface Job {
  api: Api;
  request: CommentRequest;
  /** "/repos/o/r/issues" */
  issues: string;
  number: number;
  login: string;
  marker: Marker;
  body: string;
}

/** Posts or updates the comment of a run; every reason why that cannot be is a value. Throws nothing. */
export async function publishComment(request: CommentRequest): Promise<Commented> {
  const { access, target, result, workflow, key, comment } = request;
  const marker: Marker = {
    task: request.task_known ? result.task.name : '',
    file: result.task.file,
    key,
    sticky: comment.sticky,
    run: workflow.id,
    attempt: workflow.attempt,
    at: result.finished_at,
    id: result.run_id,
  };
  const { template } = comment;
  const body = await commentBody({ ...request, url: workflow.url, commit: workflow.commit, template, marker });
  if (!body.ok) return body;
  const api = createApi(access);
  const located = await locate(api, target);
  if (!located.ok) return failed(located.failure);
  const author = await findAuthor(api, access);
  if (!author.ok) return failed(author.failure);
  const issues = `/repos/${target.repository}/issues`;
  return settle({ api, request, issues, number: located.number, login: author.login, marker, body: body.text });
}

function failed({ message }: ApiFailure): Commented {
  return { ok: false, reason: message };
}

const ROUNDS = 3;
/** GitHub may need a moment to list what it has just taken. */
const AFTER_LOST_MS = 2000;

/** A new comment whose answer got lost is looked for before it is posted once more. */
async function settle(job: Job): Promise<Commented> {
  const { access, only_replace } = job.request;
  for (let round = 1; ; round += 1) {
    const found = await findOurs(job);
    if (!found.ok) return failed(found.failure);
    const newest = newestOf(found.comments);
    if (newest === undefined && only_replace) return { ok: true, what: 'none', url: '' };
    if (newest !== undefined && compareMarkers(job.marker, newest.marker) < 0) {
      return { ok: true, what: 'superseded', url: newest.url };
    }
    const written = newest === undefined ? await post(job) : await update(job, newest);
    if (written.ok) return newest === undefined ? yieldTo(job, written) : onlyOne(job, { written, newest, found });
    const { failure } = written;
    const isAgain = failure.uncertain || (newest !== undefined && failure.kind === 'not_found');
    if (!isAgain || round === ROUNDS || access.signal.aborted) return failed(failure);
    await access.clock.sleep(AFTER_LOST_MS, access.signal);
  }
}

interface Updated {
  written: Extract<Written, { ok: true }>;
  newest: Found;
  found: { comments: Found[] };
}

/** An earlier verdict must not stay beside the one that was written, and who is replaced by another part of the same run hears of it. */
async function onlyOne(job: Job, { written, newest, found }: Updated): Promise<Commented> {
  const { marker } = newest;
  const isSameRun = marker.run !== '' && marker.run === job.marker.run && marker.attempt === job.marker.attempt;
  if (isSameRun && marker.id !== job.marker.id) {
    job.request.access.log('it replaces one of the same workflow run; give each its own comment-key to keep both');
  }
  await removeOthers(job, found.comments, newest);
  return written;
}

async function removeOthers({ api, issues, request }: Job, all: readonly Found[], kept: Found): Promise<void> {
  for (const { id } of all) {
    if (id === kept.id) continue;
    const answer = await api({ method: 'DELETE', path: `${issues}/comments/${id}` });
    if (!answer.ok) request.access.log(`an earlier comment stays: ${answer.failure.message}`);
  }
}

type Written = { ok: true; what: 'posted' | 'updated'; url: string } | { ok: false; failure: ApiFailure };

async function post({ api, issues, number, body }: Job): Promise<Written> {
  const answer = await api({ method: 'POST', path: `${issues}/${number}/comments`, body: { body } });
  return answer.ok ? { ok: true, what: 'posted', url: urlOf(answer.body) } : answer;
}

async function update({ api, issues, body }: Job, { id }: Found): Promise<Written> {
  const answer = await api({ method: 'PATCH', path: `${issues}/comments/${id}`, body: { body } });
  return answer.ok ? { ok: true, what: 'updated', url: urlOf(answer.body) } : answer;
}

/** Two first runs at the same time both post; the older one's comment goes, whoever of them comes last sees both. */
async function yieldTo(job: Job, written: Extract<Written, { ok: true }>): Promise<Commented> {
  if (!job.marker.sticky) return written;
  const found = await findOurs(job);
  const newest = found.ok ? newestOf(found.comments) : undefined;
  if (!found.ok || newest === undefined) return written;
  await removeOthers(job, found.comments, newest);
  return newest.marker.id === job.marker.id ? written : { ok: true, what: 'superseded', url: newest.url };
}

const PAGE_SIZE = 100;
const MAX_PAGES = 100;

/** The comments of our own account that carry this task's marker; what others write is never read as ours. */
async function findOurs(job: Job): Promise<{ ok: true; comments: Found[] } | { ok: false; failure: ApiFailure }> {
  const comments: Found[] = [];
  let path: string | undefined = `${job.issues}/${job.number}/comments?per_page=${PAGE_SIZE}`;
  for (let page = 1; path !== undefined; page += 1) {
    if (page > MAX_PAGES) {
      const message = `there are more than ${PAGE_SIZE * MAX_PAGES} comments, too many to find ours among them`;
      return { ok: false, failure: { kind: 'unexpected', message, uncertain: false } };
    }
    const answer = await job.api({ method: 'GET', path });
    if (!answer.ok) return answer;
    comments.push(...(Array.isArray(answer.body) ? answer.body : []).flatMap((item) => ours(job, item) ?? []));
    path = answer.next;
  }
  return { ok: true, comments };
}

function ours({ login, marker }: Job, comment: JsonValue): Found | undefined {
  const [author, body, id] = [fieldAt(comment, 'user', 'login'), fieldAt(comment, 'body'), fieldAt(comment, 'id')];
  if (author !== login || typeof body !== 'string' || typeof id !== 'number') return undefined;
  const theirs = readMarker(body);
  if (theirs === undefined || theirs.sticky !== marker.sticky || theirs.key !== marker.key) return undefined;
  // One of many is ours only if this very run wrote it and the answer got lost.
  if (!marker.sticky && theirs.id !== marker.id) return undefined;
  return isSameTask(theirs, marker) ? { id, url: urlOf(comment), marker: theirs } : undefined;
}

/** A run that never read its task does not know its name, only its file. */
function isSameTask(a: Marker, b: Marker): boolean {
  return a.task === '' || b.task === '' ? a.file === b.file : a.task === b.task;
}

function newestOf(comments: readonly Found[]): Found | undefined {
  return [...comments].sort((a, b) => compareMarkers(b.marker, a.marker) || a.id - b.id)[0];
}

function urlOf(comment: JsonValue): string {
  const url = isJsonObject(comment) ? comment['html_url'] : undefined;
  return typeof url === 'string' && /^https?:\/\/[^\s]+$/.test(url) ? url : '';
}
