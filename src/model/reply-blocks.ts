import { isJsonObject, parseJson } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type {
  AssistantBlock,
  RedactedThinkingBlock,
  TextBlock,
  ThinkingBlock,
  ToolUseBlock,
} from '../core/messages.ts';
import type { Redact } from '../core/ports.ts';
import { isPlain, mapStrings, membersOf, objectText } from './json-text.ts';
import type { Member } from './json-text.ts';

/** A content block that still streams: its members as first sent, and what the deltas add. */
export interface OpenBlock {
  type: string;
  members: Member[];
  text: string;
  thinking: string;
  input: string;
  signature: string | undefined;
  citations: string[];
}

const NO_SUMMARY = '{"type":"compaction","content":null}';

/** Opens a block from the exact text of `content_block`; undefined when that is not a typed object. */
export function openBlock(json: string): OpenBlock | undefined {
  const parsed = parseJson(json);
  if (!parsed.ok || !isJsonObject(parsed.value) || typeof parsed.value['type'] !== 'string') return undefined;
  const { type, text, thinking } = parsed.value;
  return {
    type,
    members: membersOf(json),
    text: typeof text === 'string' ? text : '',
    thinking: typeof thinking === 'string' ? thinking : '',
    input: '',
    signature: undefined,
    citations: [],
  };
}

/** Adds a delta and returns how much the model wrote in it; `json` is its frame's text. Unknown kinds are skipped. */
export function applyDelta(block: OpenBlock, delta: JsonObject, json: string): number {
  const { type, text, thinking, partial_json, signature } = delta;
  const before = writtenLength(block);
  if (type === 'text_delta' && typeof text === 'string') block.text += text;
  if (type === 'thinking_delta' && typeof thinking === 'string') block.thinking += thinking;
  if (type === 'input_json_delta' && typeof partial_json === 'string') block.input += partial_json;
  if (type === 'signature_delta' && typeof signature === 'string') block.signature = signature;
  if (type === 'citations_delta') {
    const citation = memberText(membersOf(memberText(membersOf(json), 'delta') ?? '{}'), 'citation');
    if (citation !== undefined) block.citations.push(citation);
  }
  return writtenLength(block) - before;
}

/** The finished block, well-formed and with secrets replaced; undefined for a tool call without id or name. */
export function closeBlock(block: OpenBlock, redact: Redact): AssistantBlock | undefined {
  const members = finalMembers(block);
  if (block.type === 'tool_use') return toolUse(block, members, redact);
  const json = cleanJson(objectText(members), redact);
  // The service signed its summary's text; one that may not be kept as it is counts as none.
  if (block.type === 'compaction' && json !== objectText(members)) return { type: 'opaque', json: NO_SUMMARY };
  if (!isKept(block.type)) return { type: 'opaque', json };
  const parsed: unknown = JSON.parse(json);
  const kept = parsed as TextBlock | ThinkingBlock | RedactedThinkingBlock; // finalMembers wrote the field of its type
  return isPlain(json, parsed) && !('json' in kept) ? kept : { ...kept, json };
}

/** Text as it may be stored and sent: no lone surrogates, no secrets. */
export function cleanText(text: string, redact: Redact): string {
  return redact(text.toWellFormed());
}

/** A tool input's text, cleaned inside its strings so that it stays the JSON it was; broken JSON is cleaned as text. */
export function cleanInput(text: string, redact: Redact): string {
  const inside = parses(text) ? mapStrings(text, (value) => cleanText(value, redact)) : text;
  return cleanText(inside, redact);
}

function writtenLength({ text, thinking, input }: OpenBlock): number {
  return text.length + thinking.length + input.length;
}

function isKept(type: string): boolean {
  return type === 'text' || type === 'thinking' || type === 'redacted_thinking';
}

function finalMembers(block: OpenBlock): Member[] {
  let members = block.members;
  const { type, text, thinking, signature, citations, input } = block;
  if (type === 'text' || text !== '') members = withMember(members, 'text', JSON.stringify(text));
  if (type === 'thinking' || thinking !== '') members = withMember(members, 'thinking', JSON.stringify(thinking));
  if (signature !== undefined) members = withMember(members, 'signature', JSON.stringify(signature));
  if (citations.length > 0) members = withMember(members, 'citations', `[${citations.join(',')}]`);
  if (type === 'redacted_thinking' && memberText(members, 'data') === undefined) {
    members = withMember(members, 'data', '""');
  }
  if (type !== 'tool_use' && input.trim() !== '' && parses(input)) members = withMember(members, 'input', input);
  return members;
}

function toolUse(block: OpenBlock, members: Member[], redact: Redact): ToolUseBlock | undefined {
  const head = parseJson(objectText(members.filter(({ key }) => key === 'id' || key === 'name')));
  if (!head.ok || !isJsonObject(head.value)) return undefined;
  const { id, name } = head.value;
  if (typeof id !== 'string' || typeof name !== 'string') return undefined;
  const placeholder = memberText(members, 'input') ?? '{}';
  const input_json = cleanInput(block.input.trim() === '' ? placeholder : block.input, redact);
  const call: ToolUseBlock = { type: 'tool_use', id, name, input_json };
  if (members.map(({ key }) => key).join() === 'type,id,name,input') return call;
  const around = withMember(members, 'input', '').map((member) => objectText([member]).slice(1, -1));
  const at = around.findIndex((text) => text === '"input":');
  const before = `{${around.slice(0, at + 1).join(',')}`;
  const after = [...around.slice(at + 1).map((text) => `,${text}`), '}'].join('');
  return { ...call, around_json: [cleanJson(before, redact), cleanJson(after, redact)] };
}

// Signatures and encrypted payloads are opaque to everyone and must go back to the byte.
function cleanJson(json: string, redact: Redact): string {
  return mapStrings(json, (value, key) =>
    key === 'signature' || key === 'data' || key.startsWith('encrypted_') ? value : cleanText(value, redact),
  );
}

function withMember(members: readonly Member[], key: string, text: string): Member[] {
  if (!members.some((member) => member.key === key)) return [...members, { key, text }];
  return members.map((member) => (member.key === key ? { key, text } : member));
}

function memberText(members: readonly Member[], key: string): string | undefined {
  return members.findLast((member) => member.key === key)?.text;
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // a SyntaxError: the model wrote something else
  }
}
