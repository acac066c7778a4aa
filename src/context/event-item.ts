import { readFile, stat } from 'node:fs/promises';
import type { ContextItem } from '../core/config.ts';
import { errorText, UsageError } from '../core/errors.ts';
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from '../core/json.ts';
import { type ContextSources, type ItemText, plainItem } from './source.ts';

type EventItem = Extract<ContextItem, { kind: 'github_event' }>;

/** GitHub caps event payloads at 25 MB. */
const LARGEST_EVENT = 26 * 1024 * 1024;

/** Fields of the event that started the workflow; one that the event lacks is noted. */
export async function readEvent(item: EventItem, { event_path }: ContextSources): Promise<ItemText> {
  const label = `github_event ${item.fields.join(' ')}`;
  if (!event_path) {
    throw new UsageError(`context ${label}: GITHUB_EVENT_PATH is not set; outside GitHub set it to a JSON file`);
  }
  const event = await parseEvent(event_path, label);
  const values = item.fields.map((field) => ({ field, value: fieldOf(event, field) }));
  const missing = values.filter(({ value }) => value === undefined).map(({ field }) => field);
  const texts = values.flatMap(({ field, value }) => (value ? [`${field}:\n${value}\n`] : []));
  const notes = missing.length > 0 ? [`the event has no ${missing.join(', ')}`] : [];
  return { ...plainItem(label, texts.join('\n')), notes };
}

async function parseEvent(path: string, label: string): Promise<JsonValue> {
  const text = await readEventFile(path, label);
  const parsed = parseJson(text);
  if (!parsed.ok) throw new UsageError(`context ${label}: ${path} (GITHUB_EVENT_PATH) is not JSON: ${parsed.error}`);
  return parsed.value;
}

async function readEventFile(path: string, label: string): Promise<string> {
  try {
    const stats = await stat(path);
    if (stats.isFile() && stats.size <= LARGEST_EVENT) return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`context ${label}: cannot read GITHUB_EVENT_PATH: ${errorText(error)}`, { cause: error });
  }
  throw new UsageError(`context ${label}: ${path} (GITHUB_EVENT_PATH) is no file of at most ${LARGEST_EVENT} bytes`);
}

/** The text at `a.b.0.c`; undefined when it is missing or null. */
function fieldOf(event: JsonValue, field: string): string | undefined {
  let value: JsonValue | undefined = event;
  for (const name of field.split('.')) {
    if (!isJsonObject(value) && !Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, name) ? (value as Record<string, JsonValue>)[name] : undefined; // own, so it is data
  }
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? stringifyJson(value) : String(value);
}
