// Reading what was sent: messages, blocks and results of a recorded request.

import type { RecordedRequest } from '../helpers/messages-server/types.ts';

export interface SentBlock {
  type: string;
  [field: string]: unknown;
}

export interface SentMessage {
  role: string;
  content: SentBlock[];
}

/** The messages of a request; its body is JSON of that form, which the server has checked. */
export function messagesOf(request: RecordedRequest | undefined): SentMessage[] {
  return (request?.body['messages'] ?? []) as SentMessage[];
}

/** Blocks without the cache marks, which are no part of what was said. */
export function blocksOf(message: SentMessage | undefined): SentBlock[] {
  return (message?.content ?? []).map(({ cache_control: _mark, ...block }) => block);
}

export interface SentResult {
  id: string;
  is_error: boolean;
  text: string;
}

/** The tool results of the last message of a request. */
export function resultsOf(request: RecordedRequest | undefined): SentResult[] {
  return blocksOf(messagesOf(request).at(-1))
    .filter(({ type }) => type === 'tool_result')
    .map((block) => ({
      id: String(block['tool_use_id']),
      is_error: block['is_error'] === true,
      text: textOf(block['content']),
    }));
}

/** All text of the last message of a request. */
export function lastText(request: RecordedRequest | undefined): string {
  return textOf(blocksOf(messagesOf(request).at(-1)));
}

function textOf(content: unknown): string {
  return (content as SentBlock[])
    .map((block) => (block.type === 'tool_result' ? textOf(block['content']) : block['text']))
    .join('\n');
}
