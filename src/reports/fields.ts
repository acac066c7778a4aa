// Reading values that a stranger may have written: what is not there or of another type is a default, never an exception.

import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';

/** An own value by name, or undefined; never what stands on a prototype. */
export function fieldOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The text under a name, else the fallback. */
export function textField(value: JsonValue | undefined, name: string, fallback = ''): string {
  const found = fieldOf(value, name);
  return typeof found === 'string' ? found : fallback;
}

/** The finite number under a name that is not below zero, else null. */
export function numberField(value: JsonValue | undefined, name: string): number | null {
  const found = fieldOf(value, name);
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : null;
}

/** The list under a name, else an empty one. */
export function listField(value: JsonValue | undefined, name: string): JsonValue[] {
  const found = fieldOf(value, name);
  return Array.isArray(found) ? found : [];
}

/** The object under a name, else undefined. */
export function objectField(value: JsonValue | undefined, name: string): JsonObject | undefined {
  const found = fieldOf(value, name);
  return isJsonObject(found) ? found : undefined;
}
