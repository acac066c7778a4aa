// Which folders the globs of `skills` mean, and all that lies in one.

import { join } from 'node:path';
import { globRegExp, isLiteral } from '../core/globs.ts';
import { didYouMean } from '../core/nearest.ts';
import type { FolderEntry, ListFolder } from './list-folder.ts';

export const SKILL_FILE = 'SKILL.md';

const MOST_FILES = 200;
const MOST_LEVELS = 8;

/** A folder under the name that messages use. */
export interface Folder {
  path: string;
  name: string;
}

export type Found = { ok: true; folders: Folder[] } | { ok: false; reason: string };

/** The folders with a SKILL.md that a glob means; a folder named without wildcards must have one. */
export async function findSkillFolders(base: string, glob: string, list: ListFolder): Promise<Found> {
  let folders: Folder[] = [{ path: base, name: '' }];
  for (const segment of glob.replaceAll('\\', '/').split('/')) {
    if (segment === '' || segment === '.') continue;
    const next: Folder[] = [];
    for (const folder of folders) {
      const step = await below(folder, segment, list);
      if (!step.ok) return step;
      next.push(...step.folders);
    }
    folders = next;
  }
  return onlySkills(folders, isLiteral(glob), list);
}

async function below({ path, name }: Folder, segment: string, list: ListFolder): Promise<Found> {
  const inside = (part: string): Folder => ({ path: join(path, part), name: name === '' ? part : `${name}/${part}` });
  if (segment === '..') return { ok: true, folders: [inside(segment)] };
  const listed = await list(path);
  if (!listed.ok) return { ok: false, reason: `${name === '' ? '' : `${name}: `}${listed.reason}` };
  const pattern = isLiteral(segment) ? undefined : globRegExp(segment);
  const meant = listed.entries.filter((entry) => (pattern ? pattern.test(entry.name) : entry.name === segment));
  const link = meant.find(({ kind }) => kind === 'link');
  if (link) return { ok: false, reason: `${inside(link.name).name} is a symbolic link, expected a folder` };
  const folders = meant.filter(({ kind }) => kind === 'folder').map((entry) => inside(entry.name));
  if (folders.length > 0 || pattern) return { ok: true, folders };
  const names = listed.entries.filter(({ kind }) => kind === 'folder').map((entry) => entry.name);
  return { ok: false, reason: `there is no folder ${inside(segment).name}${didYouMean(segment, names)}` };
}

async function onlySkills(folders: readonly Folder[], literal: boolean, list: ListFolder): Promise<Found> {
  const found: Folder[] = [];
  for (const folder of folders) {
    const listed = await list(folder.path);
    if (!listed.ok) return { ok: false, reason: `${folder.name}: ${listed.reason}` };
    if (listed.entries.some((entry) => entry.name === SKILL_FILE)) found.push(folder);
    else if (literal) return { ok: false, reason: `${folder.name} has no ${SKILL_FILE}` };
  }
  if (found.length > 0) return { ok: true, folders: found };
  return { ok: false, reason: `it means no folder with a ${SKILL_FILE}` };
}

export type Files = { ok: true; paths: string[] } | { ok: false; reason: string };

/** Paths of all files of a skill, relative to its folder; links and special files are refused. */
export async function listSkillFiles(folder: string, list: ListFolder): Promise<Files> {
  const paths: string[] = [];
  const open: { at: string; level: number }[] = [{ at: '', level: 0 }];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { at, level } = next;
    if (level > MOST_LEVELS) return { ok: false, reason: `${at} lies more than ${MOST_LEVELS} folders deep` };
    const listed = await list(join(folder, at));
    if (!listed.ok) return { ok: false, reason: `${at}: ${listed.reason}` };
    for (const entry of listed.entries) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.kind === 'folder') open.push({ at: path, level: level + 1 });
      else if (entry.kind === 'file') paths.push(path);
      else return { ok: false, reason: `${path} is ${kindName(entry)}; a skill holds regular files only` };
    }
    if (paths.length > MOST_FILES) return { ok: false, reason: `it has more than ${MOST_FILES} files` };
  }
  return { ok: true, paths };
}

function kindName({ kind }: FolderEntry): string {
  return kind === 'link' ? 'a symbolic link' : 'no regular file';
}
