// The recorded run for provider `replay`.

import { join } from 'node:path';
import type { ReplayConfig } from '../core/config.ts';
import { isJsonObject, type JsonObject, parseJson } from '../core/json.ts';
import { type Building, readNamed } from './building.ts';
import { showValue } from './issues.ts';

/** What a transcript says of requests and replies; the rest of it is not needed. */
const MODEL_EVENTS: readonly unknown[] = ['turn_start', 'attempt', 'model_reply', 'model_failed'];

/** The model's side of the run in a folder that the task names; undefined after noting what is wrong with it. */
export async function buildRecording(
  building: Building,
  written: string | undefined,
  pointer: string,
): Promise<ReplayConfig | undefined> {
  if (written === undefined) {
    const message = 'the key "replay" is missing, expected the folder of a recorded run here';
    building.issues.push({ pointer, message });
    return undefined;
  }
  const at = `${pointer}/replay`;
  const source = await readNamed(building, join(written, 'transcript.jsonl'), at);
  if (!source) return undefined;
  // A last line without an end was cut by a crash.
  const lines = source.text.split('\n').slice(0, -1);
  const events: JsonObject[] = [];
  for (const [index, line] of lines.entries()) {
    const parsed = parseJson(line);
    if (!parsed.ok || !isJsonObject(parsed.value)) {
      const message = `found ${showValue(written)}, line ${index + 1} of whose transcript is no event`;
      building.issues.push({ pointer: at, message });
      return undefined;
    }
    if (MODEL_EVENTS.includes(parsed.value['type'])) events.push(parsed.value);
  }
  if (events.some((event) => event['type'] === 'model_reply')) return { events };
  building.issues.push({ pointer: at, message: `found ${showValue(written)}, a run without a reply of a model` });
  return undefined;
}
