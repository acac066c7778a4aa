import { canonicalText, isRecord, nodeOf, readJsonText, findLoneSurrogate, shown } from './json-text.ts';
import type { JsonNode, JsonRecord } from './json-text.ts';
import type { BlockSpec } from './types.ts';

/** A block as it goes over the wire: what content_block_start shows, then the deltas. */
export interface StreamedBlock {
  start: JsonRecord;
  deltas: JsonRecord[];
}

/** A block as the client must send it back. */
export interface SentBlock {
  type: string;
  text: string;
  /** False when the streamed tool input was no JSON object: then any object may stand in its place. */
  returnable: boolean;
}

const DEFAULT_DELTA_SIZE = 16;

/** Gives tool blocks without an id, and summaries without a signature, one that is unique in the server's life. */
export function withIds(blocks: BlockSpec[], n: number): BlockSpec[] {
  return blocks.map((block, index) => {
    if (block.type === 'compaction' && block['signature'] === undefined) return { ...block, signature: `sig_${n}` };
    if (!isToolBlock(block) || block['id'] !== undefined) return block;
    const prefix = block.type === 'tool_use' ? 'toolu' : 'srvtoolu';
    const { type, ...rest } = block;
    return { type, id: `${prefix}_${String(n).padStart(4, '0')}_${index}`, ...rest };
  });
}

/** How a block is streamed; `size` is the number of UTF-16 units in a delta. */
export function streamBlock(block: BlockSpec, size = DEFAULT_DELTA_SIZE): StreamedBlock {
  if (isToolBlock(block)) {
    const deltas = chunks(rawInput(block), size).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    return { start: startOfTool(block), deltas: [{ type: 'input_json_delta', partial_json: '' }, ...deltas] };
  }
  if (block.type === 'text') return streamText(block, size);
  if (block.type === 'thinking') return streamThinking(block, size);
  return { start: block, deltas: [] };
}

/** The block as a whole, for a reply that is not streamed. */
export function wholeBlock(block: BlockSpec): JsonRecord {
  if (!isToolBlock(block)) return block;
  const parsed: unknown = parseOr(rawInput(block), {});
  return { ...startOfTool(block), input: parsed };
}

/** What must come back for each block; blank text blocks are left out, for the service refuses them. */
export function sentBlocks(blocks: BlockSpec[]): SentBlock[] {
  return blocks.filter((block) => !isBlankText(block)).map(sentBlock);
}

/** Block text without its input, to compare a block whose input may be replaced. */
export function withoutInput(node: JsonNode): string {
  if (node.kind !== 'object') return canonicalText(node);
  return canonicalText({ kind: 'object', members: node.members.filter((member) => member.key !== 'input') });
}

export function isBlankText(block: unknown): boolean {
  return (
    isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string' && block['text'].trim() === ''
  );
}

function sentBlock(block: BlockSpec): SentBlock {
  if (!isToolBlock(block)) return { type: block.type, text: canonicalText(nodeOf(block)), returnable: true };
  const start = nodeOf(startOfTool(block));
  const input = objectNode(rawInput(block));
  if (start.kind !== 'object' || input === undefined)
    return { type: block.type, text: withoutInput(start), returnable: false };
  const members = start.members.map((member) => (member.key === 'input' ? { key: 'input', value: input } : member));
  return { type: block.type, text: canonicalText({ kind: 'object', members }), returnable: true };
}

function objectNode(raw: string): JsonNode | undefined {
  if (raw === '') return { kind: 'object', members: [] };
  try {
    const node = readJsonText(raw);
    return node.kind === 'object' && findLoneSurrogate(node) === undefined ? node : undefined;
  } catch {
    return undefined; // a SyntaxError: the script asked for input that is not JSON
  }
}

function parseOr(raw: string, fallback: unknown): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return fallback; // as above
  }
}

function isToolBlock(block: BlockSpec): boolean {
  return block.type.endsWith('tool_use');
}

function rawInput(block: BlockSpec): string {
  const raw = block['input_json'];
  return typeof raw === 'string' ? raw : JSON.stringify(block['input'] ?? {});
}

// Key order is part of what must come back, so `input` stays where `input` or `input_json` stood.
function startOfTool(block: BlockSpec): JsonRecord {
  const entries = Object.entries(block).map(([key, value]) =>
    key === 'input_json' || key === 'input' ? (['input', {}] as const) : ([key, value] as const),
  );
  const start: JsonRecord = Object.fromEntries(entries);
  return 'input' in start ? start : { ...start, input: {} };
}

function streamText(block: BlockSpec, size: number): StreamedBlock {
  const citations: unknown[] = Array.isArray(block['citations']) ? block['citations'] : [];
  const cited = citations.map((citation) => ({ type: 'citations_delta', citation }));
  const text = chunks(shown(block['text'] ?? ''), size).map((part) => ({ type: 'text_delta', text: part }));
  const start = { ...block, text: '', ...(citations.length > 0 ? { citations: [] } : {}) };
  return { start, deltas: [...cited, ...text] };
}

function streamThinking(block: BlockSpec, size: number): StreamedBlock {
  const signature = block['signature'];
  const thinking = chunks(shown(block['thinking'] ?? ''), size).map((part) => ({
    type: 'thinking_delta',
    thinking: part,
  }));
  const signed = typeof signature === 'string' ? [{ type: 'signature_delta', signature }] : [];
  const start = { ...block, thinking: '', ...(signed.length > 0 ? { signature: '' } : {}) };
  return { start, deltas: [...thinking, ...signed] };
}

function chunks(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return parts;
}
