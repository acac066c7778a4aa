import type { Git } from '../core/ports.ts';
import { shownText } from './bytes-text.ts';
import { pathspecs } from './git-pathspecs.ts';
import { resolveCommit } from './git-refs.ts';
import type { Repository } from './git-repository.ts';

type Range = Parameters<Git['diff']>[0];
type DiffResult = Awaited<ReturnType<Git['diff']>>;

/** What is compared: arguments of git diff, and what the reader must know about the comparison. */
type Sides = { ok: true; sides: string[]; notes: string[] } | { ok: false; reason: string };

/** A file of a diff. Names hold bytes as Latin-1 text. */
export interface Change {
  /** A, C, D, M, R, T, U. */
  kind: string;
  name: string;
  /** Of a rename or copy. */
  old_name?: string;
}

/** Options that make the text the same whatever the repository configures, and start no program of it. */
export const DIFF_FORMAT = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--ignore-submodules=dirty', // looking into a submodule would run git with its configuration
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];
/** With `--raw` these would add the patch to the list. */
export const PATCH_FORMAT = ['--patch', '--unified=3', '--inter-hunk-context=0'];
const EMPTY_TREE = ['hash-object', '-t', 'tree', '--stdin'];

/** The diff of a range as text; see `Git.diff`. */
export async function readDiff(repository: Repository, range: Range): Promise<DiffResult> {
  const paths = pathspecs(range.paths);
  if (!paths.ok) return paths;
  const compared = await compare(repository, range);
  if (!compared.ok) return compared;
  const run = (format: readonly string[]) =>
    repository.run([
      'diff',
      ...DIFF_FORMAT,
      '--find-renames',
      '--relative',
      ...format,
      ...compared.sides,
      '--',
      ...paths.specs,
    ]);
  const patch = await run(PATCH_FORMAT);
  if (patch.code !== 0) return { ok: false, reason: `git diff failed: ${patch.stderr}` };
  const raw = await run(['--raw', '-z']);
  if (raw.code !== 0) return { ok: false, reason: `git diff failed: ${raw.stderr}` };
  const files = parseRaw(raw.stdout).map(shownChange);
  const { text, exact } = shownText(patch.stdout);
  const notes = [...compared.notes, ...byteNotes(files.filter((file) => !file.exact).length, exact)];
  return { ok: true, text, files: files.map((file) => file.text), notes };
}

async function compare(repository: Repository, { base, head }: Range): Promise<Sides> {
  if (base === undefined && head !== undefined) {
    return { ok: false, reason: `a diff with head ${JSON.stringify(head)} needs a base to compare it with` };
  }
  if (base === undefined) return compareWorkingTree(repository);
  const [from, to] = [await resolveCommit(repository, base), await resolveCommit(repository, head ?? 'HEAD')];
  if (!from.ok) return from;
  if (!to.ok) return to;
  const merge = await repository.run(['merge-base', from.id, to.id]);
  if (merge.code === -1) return { ok: false, reason: merge.stderr };
  const common = merge.stdout.toString('utf8').split('\n')[0]?.trim() ?? '';
  const notes = head === undefined ? await untrackedNotes(repository) : [];
  if (common === '') notes.unshift(twoDotNote(base, head ?? 'HEAD', repository.shallow));
  return { ok: true, sides: [common || from.id, ...(head === undefined ? [] : [to.id])], notes };
}

async function compareWorkingTree(repository: Repository): Promise<Sides> {
  const head = await resolveCommit(repository, 'HEAD');
  const notes = await untrackedNotes(repository);
  if (head.ok) return { ok: true, sides: [head.id], notes };
  const empty = await repository.run(EMPTY_TREE, { input: Buffer.alloc(0) });
  return { ok: true, sides: [empty.stdout.toString('utf8').trim()], notes };
}

// A missing merge base must not look like "nothing changed", nor like a diff that it is not.
function twoDotNote(base: string, head: string, shallow: boolean): string {
  const cause = shallow ? 'in this shallow clone' : 'in the history';
  return `${base} and ${head} have no common ancestor ${cause}: this is the plain difference of the two (${base}..${head}), in which changes made only on ${base} appear reversed${shallow ? '; fetch-depth: 0 for actions/checkout (or git fetch --unshallow) gives the changes of the branch alone' : ''}`;
}

async function untrackedNotes(repository: Repository): Promise<string[]> {
  const answer = await repository.run(['ls-files', '-z', '--others', '--exclude-standard']);
  const count = answer.stdout.toString('latin1').split('\0').length - 1;
  return count > 0 ? [`${count} untracked file${count === 1 ? ' is' : 's are'} not part of this diff`] : [];
}

/** Reads `git diff --raw -z`: ":mode mode id id kind NUL name NUL [new name NUL]". */
export function parseRaw(raw: Buffer): Change[] {
  const fields = raw.toString('latin1').split('\0');
  const changes: Change[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const kind = fields[at]?.split(' ')[4]?.slice(0, 1) ?? '';
    const [first = '', second = ''] = [fields[at + 1], fields[at + 2]];
    const moved = kind === 'R' || kind === 'C';
    changes.push(moved ? { kind, name: second, old_name: first } : { kind, name: first });
    at += moved ? 3 : 2;
  }
  return changes;
}

function shownChange(change: Change): { text: string; exact: boolean } {
  const name = shownText(Buffer.from(change.name, 'latin1'));
  if (change.old_name === undefined) return name;
  const old = shownText(Buffer.from(change.old_name, 'latin1'));
  return { text: `${old.text} -> ${name.text}`, exact: old.exact && name.exact };
}

function byteNotes(names: number, exact: boolean): string[] {
  if (names > 0)
    return [`${names} file name${names === 1 ? ' is' : 's are'} not UTF-8; bytes that are not are shown as \\xNN`];
  return exact ? [] : ['some of it is not UTF-8; bytes that are not are shown as \\xNN'];
}
