import { isBlankText } from './blocks.ts';
import { isRecord, shown } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import type { Incoming } from './check-fields.ts';
import type { Rule, Violation } from './types.ts';

export interface CheckedMessage {
  role: string;
  /** Blocks; a text is one text block. */
  content: JsonRecord[];
}

const USER_FIELDS: Record<string, string[]> = {
  text: ['text', 'citations'],
  image: ['source', 'transformations'],
  document: ['source', 'title', 'context', 'citations'],
  search_result: ['source', 'title', 'content', 'citations'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
  container_upload: ['file_id'],
  compaction: ['content', 'signature', 'encrypted_content', 'tool_changes'],
};
const RESULT_TYPES = ['text', 'image', 'document', 'search_result', 'tool_reference'];

/** The messages as blocks; anything that is not a message is left out (checkMessages reports it). */
export function messagesOf(body: JsonRecord): CheckedMessage[] {
  const list: unknown[] = Array.isArray(body['messages']) ? body['messages'] : [];
  return list
    .filter(isRecord)
    .map((message) => ({ role: shown(message['role']), content: blocksOf(message['content']) }));
}

/** Content as blocks. */
export function blocksOf(content: unknown): JsonRecord[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

/** Checks system and messages one by one: shapes, roles, empty content, block types. */
export function* checkMessages({ body, model }: Incoming): Generator<Violation> {
  const { messages, system } = body;
  if (system !== undefined) yield* checkSystem(system);
  if (!Array.isArray(messages)) {
    yield refuse('fields', 'messages: Input should be a valid list');
    return;
  }
  if (messages.length === 0) yield refuse('empty', 'messages: at least one message is required');
  // Only a summary may stand before the first user message.
  const begins = isRecord(messages[0]) ? blocksOf(messages[0]['content'])[0]?.['type'] : undefined;
  if (isRecord(messages[0]) && messages[0]['role'] !== 'user' && begins !== 'compaction') {
    yield refuse('roles', 'messages: first message must use the "user" role');
  }
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (!isRecord(message)) yield refuse('fields', `${path}: Input should be a valid dictionary`);
    else yield* checkMessage(message, path, model?.system_messages ?? false);
  }
}

function* checkSystem(system: unknown): Generator<Violation> {
  const valid =
    typeof system === 'string' ||
    (Array.isArray(system) && system.every((block) => isRecord(block) && block['type'] === 'text'));
  if (!valid) yield refuse('fields', 'system: Input should be a valid string or a list of text blocks');
  if (blocksOf(system).some(isBlankText)) yield refuse('empty', 'system: text content blocks must be non-empty');
}

function* checkMessage(message: JsonRecord, path: string, systemAllowed: boolean): Generator<Violation> {
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant' && !(role === 'system' && systemAllowed)) {
    yield refuse('roles', `${path}.role: Input should be 'user' or 'assistant'`);
  }
  for (const field of Object.keys(message)) {
    if (field !== 'role' && field !== 'content')
      yield refuse('fields', `${path}.${field}: Extra inputs are not permitted`);
  }
  const isList = Array.isArray(content) && content.every(isRecord);
  if (typeof content !== 'string' && !isList) {
    yield refuse('fields', `${path}.content: Input should be a valid string or list of blocks`);
    return;
  }
  if (content.length === 0) yield refuse('empty', `${path}: all messages must have non-empty content`);
  for (const [index, block] of blocksOf(content).entries()) {
    yield* checkBlock(block, shown(role), `${path}.content.${index}`);
  }
}

function* checkBlock(block: JsonRecord, role: string, path: string): Generator<Violation> {
  yield* checkText(block, path);
  const type = shown(block['type']);
  // What an assistant message may hold is decided by what was sent to the client.
  if (role === 'assistant') {
    if (type.endsWith('tool_use')) yield* checkToolUse(block, `${path}.${type}`);
    return;
  }
  const fields = role === 'user' || type === 'text' ? USER_FIELDS[type] : undefined;
  if (fields === undefined) {
    yield refuse('blocks', `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`);
    return;
  }
  for (const field of Object.keys(block)) {
    const known = field === 'type' || field === 'cache_control' || fields.includes(field);
    if (!known) yield refuse('blocks', `${path}.${type}.${field}: Extra inputs are not permitted`);
  }
  if (type === 'tool_result') yield* checkResult(block, `${path}.tool_result`);
}

function* checkText(block: JsonRecord, path: string): Generator<Violation> {
  if (block['type'] !== 'text') return;
  if (typeof block['text'] !== 'string') yield refuse('blocks', `${path}.text.text: Input should be a valid string`);
  else if (block['text'] === '') yield refuse('empty', `${path}: text content blocks must be non-empty`);
  else if (isBlankText(block)) yield refuse('empty', `${path}: text content blocks must contain non-whitespace text`);
}

function* checkToolUse(block: JsonRecord, path: string): Generator<Violation> {
  if (!isRecord(block['input'])) yield refuse('blocks', `${path}.input: Input should be a valid dictionary`);
  if (!/^[a-zA-Z0-9_-]+$/.test(shown(block['id']))) {
    yield refuse('blocks', `${path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  if (block['type'] === 'tool_use' && !/^[a-zA-Z0-9_-]{1,200}$/.test(shown(block['name']))) {
    yield refuse('blocks', `${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`);
  }
}

function* checkResult(block: JsonRecord, path: string): Generator<Violation> {
  const { content, is_error: isError } = block;
  if (isError !== undefined && typeof isError !== 'boolean')
    yield refuse('blocks', `${path}.is_error: Input should be a valid boolean`);
  if (content === undefined) return;
  if (typeof content !== 'string' && !Array.isArray(content)) {
    yield refuse('blocks', `${path}.content: Input should be a valid string or list`);
    return;
  }
  if (content.length === 0) yield refuse('empty', `${path}.content: content must be non-empty`);
  for (const [index, part] of blocksOf(content).entries()) {
    const at = `${path}.content.${index}`;
    yield* checkText(part, at);
    const known = RESULT_TYPES.includes(shown(part['type']));
    if (!known)
      yield refuse('blocks', `${at}: Input tag '${shown(part['type'])}' does not match any of the expected tags`);
  }
}

function refuse(rule: Rule, message: string): Violation {
  return { rule, message };
}
