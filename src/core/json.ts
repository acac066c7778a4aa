export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type JsonParse = { ok: true; value: JsonValue } | { ok: false; error: string };

// `__proto__` as a key would set a prototype in code that copies the object, so it is refused where data enters.
// The key may be spelled with escapes.
const MAYBE_PROTOTYPE_KEY = /__proto__|\\u/;

/** Strict JSON.parse as a value; a `__proto__` key anywhere is an error. */
export function parseJson(text: string): JsonParse {
  try {
    const value: unknown = JSON.parse(text);
    if (MAYBE_PROTOTYPE_KEY.test(text) && hasPrototypeKey(value))
      return { ok: false, error: 'the key "__proto__" is not allowed' };
    return { ok: true, value: value as JsonValue }; // JSON.parse yields nothing but JsonValue
  } catch (error) {
    // SyntaxError (or a RangeError for absurd depth) is the expected failure of untrusted text.
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

function hasPrototypeKey(value: unknown): boolean {
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item !== 'object' || item === null) continue;
    if (Object.hasOwn(item, '__proto__')) return true;
    const children: unknown[] = Object.values(item);
    for (const child of children) stack.push(child); // a spread of a long list overflows the stack
  }
  return false;
}

/** JSON text of a value that is well-formed UTF-16: a lone surrogate half becomes U+FFFD. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item));
}
