import { canonicalText, itemsOf, memberOf, stringOf } from './json-text.ts';
import type { JsonNode } from './json-text.ts';

/** A message as comparable text, one per block, without cache marks. */
export interface CanonicalMessage {
  role: string;
  blocks: CanonicalBlock[];
}

export interface CanonicalBlock {
  type: string;
  text: string;
  node: JsonNode;
  mark: JsonNode | undefined;
}

/** A request as comparable text: what the model would read, in order. */
export interface CanonicalRequest {
  tools: CanonicalBlock[];
  system: CanonicalBlock[];
  messages: CanonicalMessage[];
}

export function canonicalRequest(body: JsonNode): CanonicalRequest {
  return {
    tools: itemsOf(memberOf(body, 'tools')).map(canonicalBlock),
    system: canonicalContent(memberOf(body, 'system')),
    messages: itemsOf(memberOf(body, 'messages')).map((message) => ({
      role: stringOf(message, 'role') ?? '',
      blocks: canonicalContent(memberOf(message, 'content')),
    })),
  };
}

/** All of a message as one text. */
export function messageText(message: CanonicalMessage): string {
  return `${message.role}:${listText(message.blocks)}`;
}

export function listText(blocks: CanonicalBlock[]): string {
  return `[${blocks.map((block) => block.text).join(',')}]`;
}

// A string and one text block mean the same to the service, and only the block can carry a cache mark.
function canonicalContent(content: JsonNode | undefined): CanonicalBlock[] {
  if (content?.kind !== 'string') return itemsOf(content).map(canonicalBlock);
  return [canonicalBlock({ kind: 'object', members: [member('type', 'text'), { key: 'text', value: content }] })];
}

function canonicalBlock(node: JsonNode): CanonicalBlock {
  const mark = memberOf(node, 'cache_control');
  return {
    type: stringOf(node, 'type') ?? '',
    text: canonicalText(withoutMarks(node)),
    node,
    mark: isNull(mark) ? undefined : mark,
  };
}

// Only a block's own mark, and those of blocks inside its content: tool input may hold any key.
function withoutMarks(node: JsonNode): JsonNode {
  if (node.kind !== 'object') return node;
  const members = node.members
    .filter((entry) => entry.key !== 'cache_control')
    .map(({ key, value }) => ({
      key,
      value: key === 'content' && value.kind === 'array' ? withoutInnerMarks(value.items) : value,
    }));
  return { kind: 'object', members };
}

function withoutInnerMarks(items: JsonNode[]): JsonNode {
  return { kind: 'array', items: items.map(withoutMarks) };
}

function isNull(node: JsonNode | undefined): boolean {
  return node?.kind === 'literal' && node.text === 'null';
}

function member(key: string, value: string): { key: string; value: JsonNode } {
  return { key, value: { kind: 'string', value } };
}
