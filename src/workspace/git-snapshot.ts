import { copyFile, lstat, mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { IoError } from '../core/errors.ts';
import { shownText } from './bytes-text.ts';
import { slashed } from './ignore-rules.ts';
import { isInside } from './path-guard.ts';
import type { Repository } from './git-repository.ts';
import { systemCode } from './system-error.ts';

export interface SnapshotPlace {
  /** Real path of the workspace. */
  root: string;
  /** A folder of ours for objects and a temporary index; the repository's own .git is never written. */
  scratch: string;
  /** Absolute paths that belong to no snapshot: the run folder. */
  exclude: readonly string[];
}

export interface Snapshot {
  tree: string;
  /** Untracked files and repositories that were left out, as shown names. */
  left_out: string[];
}

/** An untracked file above this is named in the patch but not kept. */
const LARGEST_UNTRACKED = 50 * 1024 * 1024;
const AS_THEY_ARE = '* -text -eol -filter -ident -working-tree-encoding\n';
const GITLINK = '160000';

/** Records the whole working tree, untracked files included, as a tree in the scratch folder. */
export async function takeSnapshot(repository: Repository, place: SnapshotPlace): Promise<Snapshot> {
  await prepareScratch(repository, place);
  const env = scratchEnvironment(place);
  const left_out = await untrackedToLeaveOut(repository, place, env);
  const excluded = [
    ...place.exclude
      .filter((path) => isInside(place.root, path))
      .map((path) => latin1(slashed(relative(place.root, path)))),
    ...(await gitlinks(repository, env)),
    ...left_out,
  ];
  const specs = ['.', ...excluded.map((path) => `:(exclude,literal)${path}`)];
  await addAll(repository, place, Buffer.from(specs.join('\0'), 'latin1'));
  const tree = await repository.run(['write-tree'], { env });
  if (tree.code !== 0) throw new IoError(`git cannot record the workspace: ${tree.stderr}`);
  return { tree: tree.stdout.toString('utf8').trim(), left_out: left_out.map(shown) };
}

async function addAll(repository: Repository, place: SnapshotPlace, specs: Buffer): Promise<void> {
  const env = scratchEnvironment(place);
  // One file that cannot be read must not cost the record of all others; git then ends with 1.
  const args = ['add', '--all', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul'];
  const added = await repository.run(args, { env, input: specs });
  if (added.code === 0 || added.code === 1) return;
  // A .gitattributes file can make the conversion of any file fatal, so the second try takes bytes as they are.
  await writeFile(join(place.scratch, 'info/attributes'), AS_THEY_ARE);
  const top = resolve(place.root, repository.prefix.replaceAll(/[^/]+/g, '..'));
  const plain = { ...env, GIT_DIR: place.scratch, GIT_WORK_TREE: top };
  const retried = await repository.run(args, { env: plain, input: specs });
  if (retried.code !== 0 && retried.code !== 1) throw new IoError(`git cannot record the workspace: ${added.stderr}`);
}

/** The scratch folder is a bare repository without a configuration of anybody else's. */
async function prepareScratch(repository: Repository, { root, scratch }: SnapshotPlace): Promise<void> {
  const question = ['rev-parse', '--show-object-format', '--git-path', 'objects', '--git-path', 'index'];
  const answer = await repository.run(question);
  const [format = 'sha1', objects = '', index = ''] = answer.stdout.toString('utf8').split('\n');
  for (const folder of ['objects/info', 'objects/pack', 'refs', 'info']) {
    await mkdir(join(scratch, folder), { recursive: true, mode: 0o700 });
  }
  const extension = format === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${format}\n`;
  const version = format === 'sha1' ? 0 : 1;
  await writeFile(
    join(scratch, 'config'),
    `[core]\n\trepositoryFormatVersion = ${version}\n\tbare = true\n${extension}`,
  );
  await writeFile(join(scratch, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(scratch, 'objects/info/alternates'), `${resolve(root, objects)}\n`);
  await rm(join(scratch, 'index'), { force: true });
  await copyIndex(resolve(root, index), join(scratch, 'index')).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error; // nothing was ever added
  });
}

/** The copy knows which files are unchanged, so that only the others are read. */
async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from);
  await copyFile(from, to);
  // Git looks again into files that are as new as the index; a copy that is newer would hide a change of the same second.
  const second = Math.floor(mtimeMs / 1000);
  await utimes(to, second, second);
}

/** Objects and index go to the scratch folder, everything else is the repository's. */
function scratchEnvironment({ scratch }: SnapshotPlace): Record<string, string> {
  return { GIT_INDEX_FILE: join(scratch, 'index'), GIT_OBJECT_DIRECTORY: join(scratch, 'objects') };
}

async function untrackedToLeaveOut(
  repository: Repository,
  place: SnapshotPlace,
  env: Record<string, string>,
): Promise<string[]> {
  const names = await namesOf(repository, ['ls-files', '-z', '--others', '--exclude-standard'], env);
  const left: string[] = [];
  for (const name of names) {
    const path = resolve(place.root, Buffer.from(name, 'latin1').toString('utf8'));
    if (place.exclude.some((folder) => isInside(folder, path))) continue;
    // A name that ends in "/" is a repository of its own; added, it would be a submodule or an error.
    if (name.endsWith('/') || (await isLarge(place.root, name))) left.push(name);
  }
  return left;
}

async function isLarge(root: string, name: string): Promise<boolean> {
  const path = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
  return lstat(path).then(
    (stats) => stats.size > LARGEST_UNTRACKED,
    () => false, // gone meanwhile
  );
}

/** Submodules are left alone: git would look into them with their own configuration. */
async function gitlinks(repository: Repository, env: Record<string, string>): Promise<string[]> {
  const staged = await namesOf(repository, ['ls-files', '-z', '--stage'], env);
  return staged.filter((line) => line.startsWith(`${GITLINK} `)).map((line) => line.slice(line.indexOf('\t') + 1));
}

/** Fields of a NUL-separated answer; bytes as Latin-1 text. */
async function namesOf(repository: Repository, args: string[], env: Record<string, string>): Promise<string[]> {
  const answer = await repository.run(args, { env });
  if (answer.code !== 0) throw new IoError(`git cannot list the workspace: ${answer.stderr}`);
  return answer.stdout
    .toString('latin1')
    .split('\0')
    .filter((name) => name !== '');
}

function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function shown(name: string): string {
  return shownText(Buffer.from(name, 'latin1')).text;
}
