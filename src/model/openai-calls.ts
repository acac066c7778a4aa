// Tool calls of a chat completion, put together from deltas that endpoints number, name and repeat in their own ways.

import { isJsonObject, parseJson } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { ToolUseBlock } from '../core/messages.ts';
import type { Redact } from '../core/ports.ts';
import { cleanInput, cleanText } from './reply-blocks.ts';

/** A call that still streams; '' stands for an id or a name that did not come. */
export interface OpenCall {
  index: number | undefined;
  id: string;
  name: string;
  args: string;
}

/** Where a delta belongs, and what it adds. */
interface Piece extends OpenCall {
  /** The arguments came as a value instead of text, so they are whole. */
  whole: boolean;
}

/** Adds one delta to the calls; `exact` is the text of arguments that came as a value. Returns what was written. */
export function addCallDelta(calls: OpenCall[], delta: JsonObject, exact: () => string | undefined): number {
  const piece = pieceOf(delta, exact);
  const known = findCall(calls, piece);
  if (!known || startsAnother(known, piece)) {
    calls.push({ index: piece.index, id: piece.id, name: piece.name, args: piece.args });
    return piece.name.length + piece.args.length;
  }
  if (known.id === '') known.id = piece.id;
  if (known.name === '') known.name = piece.name;
  known.args = piece.whole ? piece.args : known.args + piece.args;
  return piece.args.length;
}

/** The finished calls, each with an id that is not in `taken`; undefined when one has no name. */
export function closeCalls(
  calls: readonly OpenCall[],
  taken: ReadonlySet<string>,
  redact: Redact,
): ToolUseBlock[] | undefined {
  const used = new Set(taken);
  const blocks: ToolUseBlock[] = [];
  for (const { id, name, args } of calls) {
    if (name === '') return undefined;
    const own = uniqueId(cleanText(id, redact), used);
    used.add(own);
    blocks.push({ type: 'tool_use', id: own, name: cleanText(name, redact), input_json: inputOf(args, redact) });
  }
  return blocks;
}

/** How many calls from the first on are whole while the reply still streams: another one has begun, and their JSON is. */
export function wholeCalls(calls: readonly OpenCall[]): number {
  const open = calls.findIndex(
    ({ id, name, args }, at) => id === '' || name === '' || at === calls.length - 1 || !isWhole(args),
  );
  return Math.max(0, open);
}

function pieceOf(delta: JsonObject, exact: () => string | undefined): Piece {
  const { index, id } = delta;
  const { name, arguments: args } = isJsonObject(delta['function']) ? delta['function'] : {};
  const isText = typeof args === 'string' || args === undefined || args === null;
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    args: isText ? (args ?? '') : (exact() ?? ''),
    whole: !isText,
  };
}

function findCall(calls: readonly OpenCall[], { index, id }: Piece): OpenCall | undefined {
  if (index !== undefined) return calls.findLast((call) => call.index === index);
  return id === '' ? calls.at(-1) : calls.findLast((call) => call.id === id);
}

// Only a delta with a name can begin a call. Endpoints repeat the name in every delta, give parallel calls the same
// index or the same id, or neither index nor id.
function startsAnother(known: OpenCall, { index, id, name, args }: Piece): boolean {
  if (name === '' || known.name === '') return false;
  if (id !== '' && known.id !== '' && id !== known.id) return true;
  if (index === undefined && id === '') return true;
  return args !== '' && isWhole(known.args);
}

function isWhole(args: string): boolean {
  if (!args.trimEnd().endsWith('}')) return false;
  const parsed = parseJson(args);
  return parsed.ok && isJsonObject(parsed.value);
}

/** Empty, missing and null arguments mean none (field report B183). */
function inputOf(args: string, redact: Redact): string {
  const text = args.trim();
  return text === '' || text === 'null' ? '{}' : cleanInput(args, redact);
}

/** An answer names its call by the id alone, so that no two calls of a history may share one. */
function uniqueId(id: string, used: ReadonlySet<string>): string {
  const base = id === '' ? `call_${used.size + 1}` : id;
  for (let number = 1; ; number += 1) {
    const own = number === 1 ? base : `${base}_${number}`;
    if (!used.has(own)) return own;
  }
}
