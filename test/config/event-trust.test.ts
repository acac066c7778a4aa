// Every payload that GitHub is known to send, and what it means for a run.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { triggerRefusal } from '../../src/config/association.ts';
import { baseCommit, headCommits } from '../../src/config/event-commits.ts';
import { fieldAt } from '../../src/config/event-payload.ts';
import { untrustedReason } from '../../src/config/trust.ts';
import { commentTarget } from '../../src/publish/target.ts';
import { tempTree } from '../helpers/temp.ts';
import { webhook, WEBHOOKS } from '../helpers/webhooks.ts';

const DEFAULT_SHA = 'c'.repeat(40);

/** Which commit counts as the base: of the pull request, the default branch's, or none that the CI names. */
type Row = { untrusted: boolean; base: 'pull request' | 'default branch' | null; comment: boolean; asks_who: boolean };
const row = (untrusted: boolean, base: Row['base'], { comment = false, asks_who = false } = {}): Row => ({
  untrusted,
  base,
  comment,
  asks_who,
});

/** Events that start workflows. */
const STARTING: Record<string, Row> = {
  pull_request: row(false, 'pull request', { comment: true }),
  pull_request_target: row(true, 'pull request', { comment: true }),
  pull_request_review: row(true, 'pull request', { comment: true, asks_who: true }),
  pull_request_review_comment: row(true, 'pull request', { comment: true, asks_who: true }),
  issues: row(true, 'default branch', { comment: true }),
  issue_comment: row(true, 'default branch', { comment: true, asks_who: true }),
  commit_comment: row(true, 'default branch', { asks_who: true }),
  discussion: row(true, 'default branch'),
  discussion_comment: row(true, 'default branch', { asks_who: true }),
  fork: row(true, 'default branch'),
  gollum: row(true, 'default branch'),
  ...Object.fromEntries(
    'branch_protection_rule check_run check_suite create delete deployment deployment_status label merge_group milestone page_build project project_card project_column public push release repository_dispatch status watch workflow_dispatch'
      .split(' ')
      .map((name) => [name, row(false, null)]),
  ),
};

/** Webhooks that start no workflow. */
const OTHERS =
  'code_scanning_alert dependabot_alert deploy_key deployment_review github_app_authorization installation installation_repositories marketplace_purchase member membership meta organization org_block package ping projects_v2_item pull_request_review_thread repository repository_import repository_vulnerability_alert security_advisory sponsorship star team team_add workflow_job'.split(
    ' ',
  );

function envOf(name: string, payload: unknown): Record<string, string> {
  const folder = tempTree({ 'event.json': JSON.stringify(payload) });
  return {
    GITHUB_EVENT_NAME: name,
    GITHUB_EVENT_PATH: join(folder, 'event.json'),
    GITHUB_SHA: DEFAULT_SHA,
    GITHUB_REPOSITORY: 'Codertocat/Hello-World',
  };
}

function canComment(env: Record<string, string>): boolean {
  try {
    return 'number' in commentTarget(env).place;
  } catch (error) {
    // UsageError: the event is about nothing that can be commented on.
    return !String(error).includes('is about no pull request or issue');
  }
}

const payloadsOf = (name: string): readonly object[] =>
  WEBHOOKS.get(name === 'pull_request_target' ? 'pull_request' : name) ?? [];

describe('every event that GitHub documents', () => {
  test('is judged here', () => {
    const known = [...Object.keys(STARTING), ...OTHERS, 'workflow_run'];
    expect([...WEBHOOKS.keys()].filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(Object.entries(STARTING))('%s has its trust, base and place of comment: %j', (name, expected) => {
    const payloads = payloadsOf(name);
    expect(payloads.length).toBeGreaterThan(0);
    for (const payload of payloads) {
      const env = envOf(name, payload);
      const bases = {
        'pull request': fieldAt(payload, 'pull_request', 'base', 'sha'),
        'default branch': DEFAULT_SHA,
      };
      const action = String(fieldAt(payload, 'action'));
      expect(untrustedReason(env) !== undefined, action).toBe(expected.untrusted);
      expect(baseCommit(env), action).toBe(expected.base === null ? undefined : bases[expected.base]);
      expect(headCommits(env), action).not.toContain(baseCommit(env));
      expect(canComment(env), action).toBe(expected.comment);
    }
  });

  test('of a pull request from a fork, deleted or not, is untrusted in every action', () => {
    for (const payload of payloadsOf('pull_request')) {
      const heads = [{ full_name: 'stranger/Hello-World' }, null];
      for (const repo of heads) {
        const pull = structuredClone(fieldAt(payload, 'pull_request')) as { head: object };
        const forked = { ...payload, pull_request: { ...pull, head: { ...pull.head, repo } } };
        expect(untrustedReason(envOf('pull_request', forked))).toBe('the event pull_request from a fork');
      }
    }
  });

  test('without its pull_request is untrusted and says why', () => {
    const reason = 'the event pull_request, whose payload has no pull_request';
    expect(untrustedReason(envOf('pull_request', webhook('issues')))).toBe(reason);
  });

  test('of a workflow that ran before is as trusted as the repository of its head', () => {
    for (const payload of payloadsOf('workflow_run')) {
      const own = fieldAt(payload, 'repository', 'full_name');
      const isOwn = fieldAt(payload, 'workflow_run', 'head_repository', 'full_name') === own;
      const env = envOf('workflow_run', payload);
      expect(untrustedReason(env) === undefined).toBe(isOwn);
      expect(baseCommit(env)).toBe(DEFAULT_SHA);
    }
  });
});

describe('who may set off a run', () => {
  const withAuthor = (name: string, association: string | undefined): Record<string, string> => {
    const text = JSON.stringify(webhook(name)).replaceAll(
      /"author_association":"\w+"/g,
      association === undefined ? '"nothing":0' : `"author_association":"${association}"`,
    );
    return envOf(name, JSON.parse(text));
  };
  const asking = Object.entries(STARTING).flatMap(([name, { asks_who }]) => (asks_who ? [name] : []));

  test.each(asking)('on %s is somebody of the repository', (name) => {
    for (const association of ['OWNER', 'MEMBER', 'COLLABORATOR']) {
      expect(triggerRefusal(withAuthor(name, association), undefined)).toBeUndefined();
    }
    for (const association of ['CONTRIBUTOR', 'FIRST_TIME_CONTRIBUTOR', 'FIRST_TIMER', 'MANNEQUIN', 'NONE', 'owner']) {
      expect(triggerRefusal(withAuthor(name, association), undefined)).toContain(`whose author is ${association}`);
    }
    expect(triggerRefusal(withAuthor(name, undefined), undefined)).toContain('names no author');
    expect(triggerRefusal({ GITHUB_EVENT_NAME: name }, undefined)).toContain('names no author');
  });

  test.each(['issues', 'discussion', 'pull_request'])('on %s is everybody, unless the step says who', (name) => {
    const env = withAuthor(name, 'NONE');
    expect(triggerRefusal(env, undefined)).toBeUndefined();
    expect(triggerRefusal(env, ['OWNER'])).toContain('allowed are OWNER');
    expect(triggerRefusal(withAuthor(name, 'OWNER'), ['OWNER'])).toBeUndefined();
  });

  test('is not asked about on a push', () => {
    expect(triggerRefusal(envOf('push', webhook('push')), ['OWNER'])).toBeUndefined();
  });
});
