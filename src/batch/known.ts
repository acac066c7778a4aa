// What the record of an earlier batch says, line by line.

import { existsSync, readFileSync } from 'node:fs';
import { isJsonObject, parseJson, type JsonObject } from '../core/json.ts';

export interface KnownRun {
  run_dir: string;
  /** What stood in its workspace when it began; absent: it does not look at it. */
  content?: string;
  /** Grows each time somebody else changed the workspace. */
  epoch: number;
}

export interface KnownPlace {
  /** What the batch's own runs left there; null: that could not be told, absent: none has been there. */
  content?: string | null;
  /** What stood there when the epoch began: a fresh checkout is there again. */
  since?: string | undefined;
  epoch: number;
  /** Runs that may change it and have begun, by their key. */
  open: Set<string>;
  /** A run was killed there: what it changed is nobody else's. */
  cut: boolean;
}

/** What a record says of an earlier batch. */
export interface Known {
  /** The last folder of each run by its key. */
  runs: Map<string, KnownRun>;
  /** The commit each workspace was left at. */
  heads: Map<string, string | null>;
  places: Map<string, KnownPlace>;
  /** Paths that do not count as content. */
  not_content: string[];
}

/** What stands in a record; a line that a crash tore is passed over. */
export function readRecord(file: string): Known {
  const known: Known = { runs: new Map(), heads: new Map(), places: new Map(), not_content: [] };
  if (!existsSync(file)) return known;
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    const parsed = parseJson(text);
    if (parsed.ok && isJsonObject(parsed.value)) readLine(known, parsed.value);
  }
  for (const place of known.places.values()) place.cut ||= place.open.size > 0;
  return known;
}

function readLine(known: Known, line: JsonObject): void {
  const { type, key, run_dir, workspace, head } = line;
  if (type === 'batch_start') readStart(known, line);
  if (typeof workspace === 'string' && (head === null || typeof head === 'string')) known.heads.set(workspace, head);
  if (typeof key !== 'string' || typeof run_dir !== 'string') return;
  const place = typeof workspace === 'string' ? placeOf(known, workspace) : undefined;
  const content = typeof line['content'] === 'string' ? line['content'] : undefined;
  if (type === 'run_end') {
    known.runs.set(key, { ...(known.runs.get(key) ?? { epoch: 0 }), run_dir });
    if (place) leave(place, key, content);
    return;
  }
  if (place) enter(place, content);
  if (place && line['effects'] === true) place.open.add(key);
  known.runs.set(key, { run_dir, epoch: place?.epoch ?? 0, ...(content === undefined ? {} : { content }) });
}

function readStart(known: Known, { not_content }: JsonObject): void {
  for (const file of Array.isArray(not_content) ? not_content : [])
    if (typeof file === 'string') known.not_content.push(file);
  for (const place of known.places.values()) {
    place.cut ||= place.open.size > 0;
    place.open.clear();
  }
}

function placeOf({ places }: Known, workspace: string): KnownPlace {
  const place = places.get(workspace) ?? { epoch: 0, open: new Set<string>(), cut: false };
  places.set(workspace, place);
  return place;
}

/** A run found something else than the one before it left: somebody else was there, unless that one was killed. */
function enter(place: KnownPlace, content: string | undefined): void {
  const first = place.content === undefined;
  const same = content !== undefined && place.content === content;
  const foreign = !first && !same && !place.cut;
  if (foreign) place.epoch += 1;
  if (first || foreign) place.since = content;
  place.cut = false;
  place.content = content ?? null;
}

function leave(place: KnownPlace, key: string, content: string | undefined): void {
  place.open.delete(key);
  place.content = content ?? null;
}
