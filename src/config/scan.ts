// What JSON.parse accepts in silence: duplicate keys, a `__proto__` key, absurd nesting. One pass over the tokens.

export const MAX_DEPTH = 100;

export interface Scan {
  /** Offset at which the nesting passes MAX_DEPTH. */
  too_deep?: number;
  /** The first key that may not stand where it does. */
  refused?: { offset: number; message: string } | undefined;
}

interface Frame {
  /** Absent in a list. */
  keys?: Set<string>;
  key_next: boolean;
}

const TOKEN = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[{}[\],]/g;

/** Reads the tokens of a JSON text with comments; makes no claim about texts that are not JSON but the depth. */
export function scanJson(text: string): Scan {
  const stack: Frame[] = [];
  const scan: Scan = {};
  for (const match of text.matchAll(TOKEN)) {
    const token = match[0];
    const top = stack.at(-1);
    if (token === '{') stack.push({ keys: new Set(), key_next: true });
    else if (token === '[') stack.push({ key_next: false });
    else if (token === '}' || token === ']') stack.pop();
    else if (token === ',' && top) top.key_next = top.keys !== undefined;
    else if (token.startsWith('"') && top?.key_next) scan.refused ??= readKey(token, match.index, top);
    if (stack.length > MAX_DEPTH) return { too_deep: match.index };
  }
  return scan;
}

function readKey(token: string, offset: number, frame: Frame): Scan['refused'] {
  frame.key_next = false;
  const key = unquote(token);
  if (key === '__proto__') return { offset, message: 'the key "__proto__" is not allowed' };
  if (frame.keys?.has(key)) return { offset, message: `the key ${token} stands twice in one object, expected it once` };
  frame.keys?.add(key);
  return undefined;
}

function unquote(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    // A broken escape: the parser reports it.
    return token;
  }
}
