import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IoError } from '../core/errors.ts';
import { strictUtf8 } from './bytes-text.ts';
import { DIFF_FORMAT, PATCH_FORMAT } from './git-diff.ts';
import type { Repository } from './git-repository.ts';

/** Two recorded trees, in the scratch folder that holds them. */
export interface TreePair {
  scratch: string;
  from: string;
  to: string;
}

const HEADER = Buffer.from('diff --git ');

/** The patch between two trees for `git apply`, as text: what is not UTF-8 stands in git's binary form. */
export async function patchBetween(repository: Repository, trees: TreePair): Promise<string> {
  await writeAttributes(trees, []);
  const patch = await diffTrees(repository, trees, 'false');
  const text = strictUtf8(patch);
  if (text !== undefined) return text;
  const quoted = await diffTrees(repository, trees, 'true');
  const odd = sections(quoted).filter((section) => strictUtf8(section) === undefined);
  await writeAttributes(
    trees,
    odd.map((section) => repository.prefix + sectionName(section)),
  );
  const safe = strictUtf8(await diffTrees(repository, trees, 'true'));
  if (safe === undefined) throw new IoError('the changes of the workspace cannot be written as a text');
  return safe;
}

async function diffTrees(repository: Repository, trees: TreePair, quotePath: 'true' | 'false'): Promise<Buffer> {
  const relative = repository.prefix ? [`--relative=${repository.prefix}`] : [];
  const format = [...DIFF_FORMAT, ...PATCH_FORMAT, '--binary', '--full-index', '--no-renames', ...relative];
  const args = ['-c', `core.quotePath=${quotePath}`, 'diff', ...format, trees.from, trees.to, '--'];
  // In this bare repository only our own attributes count, not those of the workspace, which may hide files.
  const env = { GIT_DIR: trees.scratch };
  const answer = await repository.run(args, { env });
  if (answer.code !== 0) throw new IoError(`git cannot compare the workspace with its start: ${answer.stderr}`);
  return answer.stdout;
}

async function writeAttributes(trees: TreePair, names: readonly string[]): Promise<void> {
  const lines = names.map((name) => `${quoteName(`/${name.replaceAll(/[\\*?[\]]/g, '\\$&')}`)} -diff\n`);
  await writeFile(join(trees.scratch, 'info/attributes'), lines.join(''), 'latin1');
}

/** The parts of a patch, one a file. */
function sections(patch: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let at = patch.indexOf(HEADER); at >= 0; at = patch.indexOf(HEADER, at + 1)) {
    if (at === 0 || patch[at - 1] === 0x0a) starts.push(at);
  }
  return starts.map((start, index) => patch.subarray(start, starts[index + 1] ?? patch.length));
}

/** The name in `diff --git a/NAME b/NAME`, both the same, perhaps C-quoted; bytes as Latin-1 text. */
function sectionName(section: Buffer): string {
  const line = section.toString('latin1', HEADER.length, section.indexOf(0x0a));
  const half = line.slice(0, (line.length - 1) / 2);
  return half.startsWith('"') ? unquoteName(half).slice(2) : half.slice(2);
}

function unquoteName(quoted: string): string {
  const letters: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };
  return quoted.slice(1, -1).replaceAll(/\\([0-7]{3}|.)/g, (_all, code: string) => {
    return code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (letters[code] ?? code);
  });
}

function quoteName(name: string): string {
  const escaped = name.replaceAll(/[^\x21-\x7e]|["\\]/g, (character) => {
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `"${escaped}"`;
}
