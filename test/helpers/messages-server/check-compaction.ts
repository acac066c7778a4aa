import type { CanonicalBlock, CanonicalRequest } from './canonical.ts';
import type { Incoming } from './check-fields.ts';
import { isRecord, shown } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import type { Violation } from './types.ts';

export const COMPACT_BETA = 'compact-2026-09-04';
const MOST_INSTRUCTIONS = 16_384;
const BLOCK_FIELDS = ['type', 'content', 'signature', 'encrypted_content', 'tool_changes', 'cache_control'];

/** Checks a request for a summary, and any request that carries one; `issued` holds the text of each block sent, by signature. */
export function* checkCompaction(
  incoming: Incoming,
  request: CanonicalRequest,
  issued: ReadonlyMap<string, string>,
): Generator<Violation> {
  if (incoming.body['compaction'] !== undefined && !incoming.counting) yield* checkAsked(incoming, request);
  yield* checkBlocks(incoming.betas, request, issued);
}

/** True when the request asks for a summary in place of a reply. */
export function asksForSummary(body: JsonRecord): boolean {
  return isRecord(body['compaction']);
}

function* checkAsked({ body, betas, model }: Incoming, request: CanonicalRequest): Generator<Violation> {
  const { compaction, output_config: config, tool_choice: choice } = body;
  if (!betas.includes(COMPACT_BETA)) yield refuse(`compaction: requires anthropic-beta: ${COMPACT_BETA}`);
  if (!isRecord(compaction) || compaction['type'] !== 'summarize') {
    yield refuse("compaction.type: Input should be 'summarize'");
    return;
  }
  for (const key of Object.keys(compaction)) {
    if (key !== 'type' && key !== 'instructions') yield refuse(`compaction.${key}: Extra inputs are not permitted`);
  }
  if (shown(compaction['instructions'] ?? '').length > MOST_INSTRUCTIONS) {
    yield refuse(`compaction.instructions: String should have at most ${MOST_INSTRUCTIONS} characters`);
  }
  for (const name of ['context_management', 'stop_sequences']) {
    if (name in body) yield refuse(`${name} cannot be combined with compaction`);
  }
  if (isRecord(config) && 'format' in config) yield refuse('output_config.format cannot be combined with compaction');
  const forced = isRecord(choice) && (choice['type'] === 'any' || choice['type'] === 'tool');
  if (forced) yield refuse('tool_choice: forced tool use cannot be combined with compaction');
  if (model !== undefined && !model.compaction) yield refuse('compaction: not supported for this model');
  const last = request.messages.at(-1);
  if (last?.role === 'assistant' && last.blocks.some(({ type }) => type === 'tool_use')) {
    yield refuse('messages: the last assistant turn is not finished', 'compaction_incomplete_turn');
  }
}

function* checkBlocks(
  betas: string[],
  { messages }: CanonicalRequest,
  issued: ReadonlyMap<string, string>,
): Generator<Violation> {
  const all = messages.flatMap(({ blocks }, index) => blocks.map((block, at) => ({ block, index, at })));
  const found = all.filter(({ block }) => block.type === 'compaction');
  for (const { block, index, at } of found) {
    const path = `messages.${index}.content.${at}`;
    if (!betas.includes(COMPACT_BETA)) {
      yield refuse(`${path}: Input tag 'compaction' found using 'type' does not match any of the expected tags`);
    }
    if (index > 0 || at > 0) {
      yield refuse(`${path}: the compaction block must be the first of the conversation`, 'compaction_block_misplaced');
    }
    yield* checkBlock(block, path, issued);
  }
  if (found.length > 1) yield refuse('messages: more than one compaction block', 'compaction_block_ambiguous');
}

function* checkBlock(block: CanonicalBlock, path: string, issued: ReadonlyMap<string, string>): Generator<Violation> {
  const members = block.node.kind === 'object' ? block.node.members : [];
  for (const { key } of members) {
    if (!BLOCK_FIELDS.includes(key)) yield refuse(`${path}.compaction.${key}: Extra inputs are not permitted`);
  }
  const signature = members.find(({ key }) => key === 'signature')?.value;
  const sent = signature?.kind === 'string' ? issued.get(signature.value) : undefined;
  if (sent === undefined) yield refuse(`${path}: the signature does not verify`, 'compaction_signature_invalid');
  else if (sent !== block.text) yield refuse(`${path}: the block was changed`, 'compaction_content_mismatch');
}

function refuse(message: string, error_code?: string): Violation {
  return { rule: 'compaction', message, ...(error_code === undefined ? {} : { error_code }) };
}
