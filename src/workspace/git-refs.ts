import { headOf } from '../core/graphemes.ts';
import type { Repository } from './git-repository.ts';

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** `~2`, `^`, `^1`: the steps to an ancestor that may follow a name. */
const STEPS = /(?:[~^]\d{0,4}){0,20}$/;

export type Resolved = { ok: true; id: string } | { ok: false; reason: string };

/** Whether a text is the full id of an object. */
export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text);
}

/** Why a text is no name of a commit, after git's own rules for references; undefined when it is one. */
export function refIssue(ref: string): string | undefined {
  const name = ref.replace(STEPS, '');
  const quoted = JSON.stringify(headOf(ref, 200));
  if (name === '' || ref.length > 1000) return `${quoted} is no name of a commit`;
  if (ref.startsWith('-')) return `${quoted} is no name of a commit: it begins with "-"`;
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name)) return `${quoted} is no name of a commit`;
  const bad = name.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'));
  return bad || name === '@' || !name.isWellFormed() ? `${quoted} is no name of a commit` : undefined;
}

/** The id of the commit a name stands for; a missing one comes with the command that fetches it. */
export async function resolveCommit(repository: Repository, ref: string): Promise<Resolved> {
  const issue = refIssue(ref);
  if (issue) return { ok: false, reason: issue };
  const answer = await repository.run(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
  const id = answer.stdout.toString('utf8').trim();
  if (answer.code === 0 && OBJECT_ID.test(id)) return { ok: true, id };
  if (answer.code === -1) return { ok: false, reason: answer.stderr };
  return { ok: false, reason: missingReason(ref, repository.shallow) };
}

function missingReason(ref: string, shallow: boolean): string {
  if (ref === 'HEAD') return 'HEAD is missing: the repository has no commit yet';
  const missing = `${JSON.stringify(ref)} is not in this clone`;
  if (shallow) {
    return `${missing}, which is shallow; set fetch-depth: 0 for actions/checkout, or run: git fetch --unshallow`;
  }
  const [, remote, branch] = /^([^/]+)\/(.+)$/.exec(ref) ?? [];
  const target =
    remote === 'origin' && branch ? `origin ${branch.replace(STEPS, '')}` : `origin ${ref.replace(STEPS, '')}`;
  return `${missing}; run: git fetch ${target}`;
}
