// Who may set off a run: GitHub says in the payload what the author of a comment, issue or pull request is to the repository.

import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { fieldAt, readPayload } from './event-payload.ts';
import type { Env } from './merge.ts';

export const ASSOCIATIONS = [
  'OWNER',
  'MEMBER',
  'COLLABORATOR',
  'CONTRIBUTOR',
  'FIRST_TIME_CONTRIBUTOR',
  'FIRST_TIMER',
  'MANNEQUIN',
  'NONE',
] as const;
export type Association = (typeof ASSOCIATIONS)[number];

/** Where the payload of an event names its author's association, and whether that is asked about by default. */
const AUTHORED: Record<string, { field: string; by_default: boolean }> = {
  issue_comment: { field: 'comment', by_default: true },
  commit_comment: { field: 'comment', by_default: true },
  discussion_comment: { field: 'comment', by_default: true },
  pull_request_review_comment: { field: 'comment', by_default: true },
  pull_request_review: { field: 'review', by_default: true },
  // Whoever runs a task on these wants strangers' issues and pull requests looked at.
  issues: { field: 'issue', by_default: false },
  discussion: { field: 'discussion', by_default: false },
  pull_request: { field: 'pull_request', by_default: false },
  pull_request_target: { field: 'pull_request', by_default: false },
};

const TRUSTED: readonly Association[] = ['OWNER', 'MEMBER', 'COLLABORATOR'];

/** A list such as "OWNER, MEMBER"; undefined for an empty text: the default. "any" is everybody. */
export function readAssociations(text: string): readonly Association[] | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 0) return undefined;
  if (words.length === 1 && words[0]?.toLowerCase() === 'any') return ASSOCIATIONS;
  return words.map((word) => {
    const known = ASSOCIATIONS.find((association) => association === word.toUpperCase());
    if (known !== undefined) return known;
    const meant = didYouMean(word.toUpperCase(), ASSOCIATIONS);
    throw new UsageError(
      `the input "allowed-associations": found ${JSON.stringify(word)}, expected "any" or words of ${ASSOCIATIONS.join(', ')}${meant}`,
    );
  });
}

/** Why the author of the event may not set off a run; undefined: nothing speaks against it. Without `allowed` only comments and reviews are judged. */
export function triggerRefusal(env: Env, allowed: readonly Association[] | undefined): string | undefined {
  const event = env['GITHUB_EVENT_NAME'] ?? '';
  const authored = Object.hasOwn(AUTHORED, event) ? AUTHORED[event] : undefined;
  if (authored === undefined || (allowed === undefined && !authored.by_default)) return undefined;
  const found = fieldAt(readPayload(env), authored.field, 'author_association');
  const list = allowed ?? TRUSTED;
  if (list === ASSOCIATIONS || list.some((association) => association === found)) return undefined;
  const who =
    typeof found === 'string' ? `whose author is ${found} to this repository` : 'whose payload names no author';
  return `the event ${event}, ${who}, may not set off a run; allowed are ${list.join(', ')} (input "allowed-associations")`;
}
