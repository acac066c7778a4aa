import { relative, sep } from 'node:path';
import { compileGlobs } from '../core/globs.ts';
import type { Files, Plan, ToolContext, ToolOutput } from '../core/ports.ts';
import { cutResult, errorResult, textResult } from './result.ts';

export type SearchPlan = Extract<Plan, { kind: 'search' }>;

export type Listed = { ok: true; paths: string[]; more: boolean } | { ok: false; reason: string };

/** Files that a search looks at; a larger tree says that it was not seen whole. */
export const MAX_FILES = 50_000;

/** Files below the plan's folder that its rule admits, relative to the workspace and sorted. */
export async function filesWithin(files: Files, plan: SearchPlan, signal: AbortSignal): Promise<Listed> {
  const listed = await files.list(plan.real, { limit: MAX_FILES, signal });
  if (listed.reason !== undefined) return { ok: false, reason: `${plan.path}: ${listed.reason}` };
  const globs = compileGlobs(plan.within);
  return { ok: true, paths: listed.files.filter((path) => globs(path)?.included === true), more: listed.more };
}

/** The note under results of a tree that was too large. */
export const TOO_MANY = `[only the first ${MAX_FILES} files were looked at; name a folder further down]`;

/** Names in a folder: files, and folders with a slash behind them. */
export async function listFolder(files: Files, plan: SearchPlan, context: ToolContext): Promise<ToolOutput> {
  const listed = await filesWithin(files, plan, context.signal);
  if (!listed.ok) return errorResult(listed.reason);
  if (context.signal.aborted) return textResult('cancelled', 'The listing was cut: the run is ending.');
  const base = prefixOf(files, plan);
  const names = new Set(listed.paths.map((path) => path.slice(base.length).replace(/\/.*$/s, '/')));
  const text = [...names].sort().join('\n') || '(no files)';
  return cutResult('ok', listed.more ? `${text}\n${TOO_MANY}` : text, context);
}

/** How the plan's folder begins the paths listed below it: its real place, because links are followed. */
export function prefixOf(files: Files, plan: SearchPlan): string {
  const folder = relative(files.root, plan.real).split(sep).join('/');
  return folder === '' ? '' : `${folder}/`;
}
