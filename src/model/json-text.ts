// JSON as text: what a model wrote goes back in its own spelling (`1.0`, integers above 2^53, repeated keys, key order),
// which a parsed value has lost.

/** One member of an object's text: its key, and its value exactly as written. */
export interface Member {
  key: string;
  text: string;
}

/** The members of an object in order, repeated keys included; the text must be a valid JSON object. */
export function membersOf(text: string): Member[] {
  const members: Member[] = [];
  let at = text.indexOf('{') + 1;
  for (;;) {
    at = text.indexOf('"', at);
    if (at === -1) return members;
    const keyEnd = stringEnd(text, at);
    const start = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const end = valueEnd(text, start);
    members.push({ key: decode(text.slice(at, keyEnd)), text: text.slice(start, end) });
    at = end;
  }
}

/** The elements of an array in order, each exactly as written; the text must be a valid JSON array. */
export function elementsOf(text: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, text.indexOf('[') + 1);
  while (at < text.length && text.charAt(at) !== ']') {
    const end = valueEnd(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text.charAt(at) === ',') at = skipSpace(text, at + 1);
  }
  return elements;
}

/** The exact text at a path of keys and indexes in valid JSON; undefined when there is nothing. */
export function textAt(json: string, path: readonly (string | number)[]): string | undefined {
  let text: string | undefined = json.trim();
  for (const step of path) {
    if (text === undefined) return undefined;
    if (typeof step === 'number') text = text.startsWith('[') ? elementsOf(text)[step] : undefined;
    else text = text.startsWith('{') ? membersOf(text).findLast(({ key }) => key === step)?.text : undefined;
  }
  return text;
}

/** The text of an object with these members. */
export function objectText(members: readonly Member[]): string {
  return `{${members.map(({ key, text }) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

/**
 * Valid JSON text with every string passed through `change`, keys included (then `key` is ''); whatever is not changed
 * keeps its spelling.
 */
export function mapStrings(text: string, change: (value: string, key: string) => string): string {
  let changed = '';
  let copied = 0;
  let key = '';
  for (let at = text.indexOf('"'); at !== -1;) {
    const end = stringEnd(text, at);
    const value = decode(text.slice(at, end));
    const isKey = text.charAt(skipSpace(text, end)) === ':';
    const after = change(value, isKey ? '' : key);
    if (after !== value) {
      changed += text.slice(copied, at) + JSON.stringify(after);
      copied = end;
    }
    if (isKey) key = value;
    at = text.indexOf('"', end);
  }
  return changed + text.slice(copied);
}

/** True when writing the parsed value again gives the same text, so that the text need not be kept beside it. */
export function isPlain(text: string, parsed: unknown): boolean {
  return JSON.stringify(parsed) === text;
}

function decode(literal: string): string {
  return String(JSON.parse(literal));
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at + 1;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (/\s/.test(text.charAt(at))) at += 1;
  return at;
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const char = text.charAt(at);
    if (depth === 0 && at > start && /[\s,\]}]/.test(char)) return at;
    if (char === '{' || char === '[') depth += 1;
    if (char === '}' || char === ']') depth -= 1;
    at = char === '"' ? stringEnd(text, at) : at + 1;
  }
  return at;
}
