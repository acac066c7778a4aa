// The event that started a workflow, as GitHub wrote it to a file.

import { readFileSync } from 'node:fs';
import { isJsonObject } from '../core/json.ts';
import type { Env } from './merge.ts';

/** The payload of the event; undefined when there is none that can be read. */
export function readPayload(env: Env): unknown {
  const path = env['GITHUB_EVENT_PATH'];
  if (!path) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // Missing, unreadable or no JSON: the caller takes the cautious side.
    return undefined;
  }
}

/** A field inside a value that nobody has checked; undefined where the way ends. */
export function fieldAt(value: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>((item, key) => (isJsonObject(item) ? item[key] : undefined), value);
}
