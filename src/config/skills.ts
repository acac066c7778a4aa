// Skills with all of their text, so that nothing is read when one is asked for. They are read the way the task is: never
// from what a stranger wrote.

import { dirname, join } from 'node:path';
import type { SkillConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import { type Building, namedBy, parseNamed } from './building.ts';
import { showValue } from './issues.ts';
import { findSkillFolders, type Folder, listSkillFiles, SKILL_FILE } from './skill-folders.ts';
import type { Source } from './source.ts';

const MOST_FILE_BYTES = 256 * 1024;
/** All skills together: they stand in the transcript's first line. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_DESCRIPTION = 1024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The skills that the task's globs name, in that order; no key at all when there are none. */
export async function buildSkills(building: Building): Promise<{ skills?: SkillConfig[] }> {
  const skills = new Map<string, { skill: SkillConfig; folder: Folder }>();
  const seen = new Set<string>();
  let bytes = 0;
  for (const [index, glob] of (building.task.skills ?? []).entries()) {
    const pointer = `/skills/${index}`;
    const found = await findSkillFolders(building.folder, glob, building.list);
    if (!found.ok) {
      building.issues.push({ pointer, message: `found ${showValue(glob)}, which gives no skill: ${found.reason}` });
      continue;
    }
    for (const folder of found.folders.filter(({ path }) => !seen.has(path))) {
      seen.add(folder.path);
      const skill = await readSkill(building, folder, pointer);
      const other = skills.get(skill.name);
      if (other) {
        const message = `the skills in ${other.folder.name} and ${folder.name} are both called ${showValue(skill.name)}`;
        building.issues.push({ pointer, message });
      }
      bytes += sizeOf(skill);
      if (bytes > MOST_BYTES) throw new UsageError(`the skills have more than ${MOST_BYTES} bytes of text together`);
      skills.set(skill.name, { skill, folder });
    }
  }
  return skills.size === 0 ? {} : { skills: [...skills.values()].map(({ skill }) => skill) };
}

/** A skill's mistake is told with the file it is in; the first one ends the reading. */
async function readSkill(building: Building, folder: Folder, pointer: string): Promise<SkillConfig> {
  const shown = (path: string): string => shownName(building, `${folder.name}/${path}`);
  const fail = async (file: string, message: string, line?: number): Promise<UsageError> =>
    new UsageError(`${message}${await namedBy(building, pointer)}`, {
      place: { file, ...(line === undefined ? {} : { line, column: 1 }) },
    });
  const listed = await listSkillFiles(folder.path, building.list);
  if (!listed.ok) throw await fail(shownName(building, folder.name), listed.reason);
  const files: SkillConfig['files'] = [];
  const binary: string[] = [];
  for (const path of listed.paths) {
    const read = await building.read(join(folder.path, path));
    if (read.ok && Buffer.byteLength(read.text) > MOST_FILE_BYTES)
      throw await fail(shown(path), `it has more than ${MOST_FILE_BYTES} bytes, the most for a file of a skill`);
    if (read.ok && !read.text.includes('\0')) files.push({ path, text: read.text.replace(/^\ufeff/, '') });
    else if (read.ok || read.reason === NOT_TEXT) binary.push(path);
    else throw await fail(shown(path), `cannot be read: ${read.reason}`);
  }
  const main = files.find(({ path }) => path === SKILL_FILE);
  if (!main) throw await fail(shown(SKILL_FILE), 'it is not UTF-8 text');
  const parse = async (source: Source): Promise<JsonValue> => parseNamed(building, source, pointer);
  const parsed = await frontMatter(main.text, shown(SKILL_FILE), parse);
  if (!parsed.ok) throw await fail(shown(SKILL_FILE), parsed.message, parsed.line);
  const { name, description, body } = parsed;
  return { name, description, body, files: files.filter((file) => file !== main), binary };
}

const NOT_TEXT = 'it is not valid UTF-8';

/** As seen from the task's own path. */
function shownName({ source }: Building, name: string): string {
  return source.file === '-' ? name : join(dirname(source.file), name);
}

type Parsed =
  | { ok: true; name: string; description: string; body: string }
  | { ok: false; message: string; line?: number };

/** Name and description stand between two lines `---`; other keys are nobody's business here. */
async function frontMatter(text: string, file: string, parse: (source: Source) => Promise<JsonValue>): Promise<Parsed> {
  const match = /^---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|$)/ms.exec(text);
  // `m` is for the second line: the first one must begin the file.
  if (match?.index !== 0)
    return {
      ok: false,
      line: 1,
      message: 'expected front matter with "name" and "description" between two lines "---", first in the file',
    };
  const head = match[1] ?? '';
  // With the line before it, so that the places of its mistakes are those in the file.
  const value = await parse({ file, raw: head, text: `\n${head}`, format: 'yaml' });
  const fields = isJsonObject(value) ? value : {};
  const { name, description } = fields;
  if (!isName(name)) return { ok: false, message: nameMistake(name), line: 1 };
  if (!isDescription(description)) return { ok: false, message: descriptionMistake(description), line: 1 };
  return { ok: true, name, description: oneLine(description), body: text.slice(match[0].length).trim() };
}

function isName(name: JsonValue | undefined): name is string {
  return typeof name === 'string' && NAME.test(name);
}

function nameMistake(name: JsonValue | undefined): string {
  return `name: found ${showValue(name)}, expected up to 64 letters, digits, "-", "_" and "."`;
}

function isDescription(text: JsonValue | undefined): text is string {
  return typeof text === 'string' && text.trim() !== '' && text.length <= MOST_DESCRIPTION;
}

function descriptionMistake(text: JsonValue | undefined): string {
  return `description: found ${showValue(text)}, expected what the skill is for, in at most ${MOST_DESCRIPTION} characters`;
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function sizeOf({ body, files }: SkillConfig): number {
  return Buffer.byteLength(body) + files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}
