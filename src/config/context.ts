// Context items with their defaults and values.

import type { ContextItem, ContextLimits } from '../core/config.ts';
import { didYouMean } from '../core/nearest.ts';
import { type Building, interpolateArgument, interpolateArguments } from './building.ts';
import { showValue } from './issues.ts';
import { sizeBytes } from './limits.ts';
import type { ContextFields } from './task-file.ts';

const MAX_SIZE = '100KiB';
// What git or a glob would read as something else than a path or a revision.
const NOT_A_REVISION = '-:^';
const NOT_A_PATH = '-:!';

export async function buildContext(building: Building): Promise<ContextItem[]> {
  const items: ContextItem[] = [];
  for (const [index, fields] of (building.task.context ?? []).entries()) {
    items.push(await buildItem(building, fields, `/context/${index}`));
  }
  return items;
}

async function buildItem(building: Building, fields: ContextFields, pointer: string): Promise<ContextItem> {
  const limits = limitsOf(fields);
  if (fields.git) return buildGit(building, fields, pointer);
  if (fields.files) {
    return {
      kind: 'files',
      paths: await interpolateArguments(building, fields.files, `${pointer}/files`, NOT_A_PATH),
      limits,
    };
  }
  if (fields.command) {
    return {
      kind: 'command',
      argv: await interpolateArguments(building, fields.command, `${pointer}/command`),
      limits,
    };
  }
  if (fields.github_event) return { kind: 'github_event', fields: fields.github_event, limits };
  return buildInput(building, fields.input ?? '', { pointer, limits });
}

async function buildGit(building: Building, fields: ContextFields, pointer: string): Promise<ContextItem> {
  const revision = async (name: 'base' | 'head'): Promise<{ [key in typeof name]?: string }> => {
    const text = fields[name];
    if (text === undefined) return {};
    const before = building.issues.length;
    const value = await interpolateArgument(building, text, `${pointer}/${name}`, NOT_A_REVISION);
    if (value.trim() === '' && building.issues.length === before) {
      building.issues.push({
        pointer: `${pointer}/${name}`,
        message: `found "" after interpolation of ${showValue(text)}, expected a commit`,
      });
    }
    return { [name]: value };
  };
  return {
    kind: fields.git === 'log' ? 'git_log' : 'git_diff',
    ...(await revision('base')),
    ...(await revision('head')),
    paths: await interpolateArguments(building, fields.paths ?? [], `${pointer}/paths`, NOT_A_PATH),
    limits: limitsOf(fields),
  };
}

function buildInput(building: Building, name: string, at: { pointer: string; limits: ContextLimits }): ContextItem {
  const names = Object.keys(building.inputs);
  if (!names.includes(name)) {
    const known =
      names.length > 0 ? `expected one of ${names.map((item) => `"${item}"`).join(', ')}` : 'the task declares none';
    const message = `found the unknown input ${showValue(name)}, ${known}${didYouMean(name, names)}`;
    building.issues.push({ pointer: `${at.pointer}/input`, message });
  }
  return { kind: 'input', name, limits: at.limits };
}

function limitsOf(fields: ContextFields): ContextLimits {
  return {
    max_size_bytes: sizeBytes(fields.max_size ?? MAX_SIZE),
    on_overflow: fields.on_overflow ?? 'cut',
    when_empty: fields.when_empty ?? 'run',
  };
}
