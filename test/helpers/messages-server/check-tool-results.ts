import type { CheckedMessage } from './check-messages.ts';
import { shown } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import type { Violation } from './types.ts';

/** Checks that every tool_use has exactly one tool_result, first in the very next user message, and that ids are unique. */
export function* checkToolResults(messages: CheckedMessage[]): Generator<Violation> {
  yield* checkUniqueIds(messages);
  for (const [index, message] of messages.entries()) {
    const next = messages[index + 1];
    if (message.role === 'assistant' && next !== undefined) yield* checkAnswered(message, next, index);
    yield* checkAsked(message, messages[index - 1], index);
  }
}

function* checkUniqueIds(messages: CheckedMessage[]): Generator<Violation> {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    for (const id of callIds(message, /tool_use$/)) {
      if (seen.has(id)) yield refuse(`messages.${index}: \`tool_use\` ids must be unique (${id})`);
      seen.add(id);
    }
  }
}

function* checkAnswered(message: CheckedMessage, next: CheckedMessage, index: number): Generator<Violation> {
  const answered = next.role === 'user' ? resultIds(next) : [];
  const open = callIds(message, /^tool_use$/).filter((id) => !answered.includes(id));
  if (open.length > 0) {
    yield refuse(
      `messages.${index + 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. ` +
        'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    );
  }
  if (next.role === 'assistant') return; // the reply goes on after a pause, and both are one turn
  const onlyResults = next.content.every((block) => block['type'] === 'tool_result');
  if (hasOpenServerCall(message) && !onlyResults) {
    yield refuse(`messages.${index + 1}: only \`tool_result\` blocks may follow an unresolved server tool call`);
  }
}

function* checkAsked(
  message: CheckedMessage,
  previous: CheckedMessage | undefined,
  index: number,
): Generator<Violation> {
  const asked = previous?.role === 'assistant' ? callIds(previous, /^tool_use$/) : [];
  const seen = new Set<string>();
  let other = false;
  for (const [at, block] of message.content.entries()) {
    if (block['type'] !== 'tool_result') {
      other = true;
      continue;
    }
    const id = shown(block['tool_use_id']);
    const path = `messages.${index}.content.${at}`;
    if (!asked.includes(id)) {
      yield refuse(
        `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      );
    }
    if (seen.has(id))
      yield refuse(
        `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    if (other) yield refuse(`${path}: \`tool_result\` blocks must come first in the message, before any other content`);
    seen.add(id);
  }
}

function callIds(message: CheckedMessage, type: RegExp): string[] {
  return ids(
    message.content.filter((block) => type.test(shown(block['type']))),
    'id',
  );
}

function resultIds(message: CheckedMessage): string[] {
  return ids(
    message.content.filter((block) => block['type'] === 'tool_result'),
    'tool_use_id',
  );
}

function ids(blocks: JsonRecord[], key: string): string[] {
  return blocks.map((block) => shown(block[key]));
}

function hasOpenServerCall(message: CheckedMessage): boolean {
  const resolved = ids(message.content, 'tool_use_id');
  return callIds(message, /^(server|mcp)_tool_use$/).some((id) => !resolved.includes(id));
}

function refuse(message: string): Violation {
  return { rule: 'tool_pairing', message };
}
