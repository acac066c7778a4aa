/** JSON as it was written: key order, repeated keys and number spelling survive, white space and string escapes do not. */
export type JsonNode =
  | { kind: 'object'; members: { key: string; value: JsonNode }[] }
  | { kind: 'array'; items: JsonNode[] }
  | { kind: 'string'; value: string }
  | { kind: 'literal'; text: string };

export type JsonRecord = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value for a message or a comparison: strings as they are, everything else as JSON. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}

/** A list of names from one line. */
export function words(line: string): string[] {
  return line.split(' ');
}

/** Reads JSON text; throws the SyntaxError of JSON.parse when the text is not JSON. */
export function readJsonText(text: string): JsonNode {
  JSON.parse(text); // grammar errors surface here, so the scanner below may trust its input
  return readNode({ text, at: 0 });
}

/** The node of a JavaScript value, as JSON.stringify would spell it. */
export function nodeOf(value: unknown): JsonNode {
  return readJsonText(JSON.stringify(value));
}

/** One spelling per node: no white space, strings as JSON.stringify writes them, numbers as they came. */
export function canonicalText(node: JsonNode): string {
  switch (node.kind) {
    case 'object':
      return `{${node.members.map((member) => `${JSON.stringify(member.key)}:${canonicalText(member.value)}`).join(',')}}`;
    case 'array':
      return `[${node.items.map(canonicalText).join(',')}]`;
    case 'string':
      return JSON.stringify(node.value);
    case 'literal':
      return node.text;
  }
}

/** The member of an object node; undefined when the node is no object or has no such key. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === 'object' ? node.members.findLast((member) => member.key === key)?.value : undefined;
}

/** The items of an array node; empty for everything else. */
export function itemsOf(node: JsonNode | undefined): JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}

/** The string of a member, or undefined. */
export function stringOf(node: JsonNode | undefined, key: string): string | undefined {
  const value = memberOf(node, key);
  return value?.kind === 'string' ? value.value : undefined;
}

/** The path of the first string or key that holds half of a surrogate pair. */
export function findLoneSurrogate(node: JsonNode, path = ''): string | undefined {
  if (node.kind === 'string') return node.value.isWellFormed() ? undefined : path;
  if (node.kind === 'literal') return undefined;
  const entries =
    node.kind === 'array' ? node.items.map((value, index) => ({ key: String(index), value })) : node.members;
  for (const { key, value } of entries) {
    const below = path === '' ? key : `${path}.${key}`;
    if (!key.isWellFormed()) return below;
    const found = findLoneSurrogate(value, below);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Cursor {
  text: string;
  at: number;
}

function skipSpace(cursor: Cursor): string {
  while (/\s/.test(cursor.text.charAt(cursor.at))) cursor.at += 1;
  return cursor.text.charAt(cursor.at);
}

function readNode(cursor: Cursor): JsonNode {
  const first = skipSpace(cursor);
  if (first === '{') return readObject(cursor);
  if (first === '[') return readArray(cursor);
  if (first === '"') return { kind: 'string', value: readString(cursor) };
  const start = cursor.at;
  while (/[\w+.-]/.test(cursor.text.charAt(cursor.at))) cursor.at += 1;
  return { kind: 'literal', text: cursor.text.slice(start, cursor.at) };
}

function readObject(cursor: Cursor): JsonNode {
  const members: { key: string; value: JsonNode }[] = [];
  cursor.at += 1;
  while (skipSpace(cursor) !== '}') {
    if (cursor.text.charAt(cursor.at) === ',') {
      cursor.at += 1;
      skipSpace(cursor);
    }
    const key = readString(cursor);
    skipSpace(cursor);
    cursor.at += 1; // the colon
    members.push({ key, value: readNode(cursor) });
  }
  cursor.at += 1;
  return { kind: 'object', members };
}

function readArray(cursor: Cursor): JsonNode {
  const items: JsonNode[] = [];
  cursor.at += 1;
  while (skipSpace(cursor) !== ']') {
    if (cursor.text.charAt(cursor.at) === ',') cursor.at += 1;
    items.push(readNode(cursor));
  }
  cursor.at += 1;
  return { kind: 'array', items };
}

function readString(cursor: Cursor): string {
  const start = cursor.at;
  let end = cursor.text.indexOf('"', start + 1);
  while (isEscaped(cursor.text, end)) end = cursor.text.indexOf('"', end + 1);
  cursor.at = end + 1;
  const value: unknown = JSON.parse(cursor.text.slice(start, end + 1));
  return String(value);
}

// A quote is part of the string when an odd number of backslashes stands before it.
function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text.charAt(quote - 1 - slashes) === '\\') slashes += 1;
  return slashes % 2 === 1;
}
