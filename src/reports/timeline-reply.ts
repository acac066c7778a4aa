import { showCount, showUsd } from '../core/figures.ts';
import { fieldOf, listField, numberField, objectField, textField } from './fields.ts';
import { inputText, lineText } from './shown-text.ts';
import { spanOf, type Timeline } from './timeline.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';

interface Blocks {
  text: string;
  thinking: string;
  other: string;
}

/** A reply: a row, a turn of the charts, and the calls it asks for. */
export function replyRow(timeline: Timeline, reply: JsonObject): void {
  const content = listField(reply, 'content');
  const { text, thinking, other } = blocksOf(content);
  const turn = numberField(reply, 'turn') ?? timeline.turns.length + 1;
  const calls = content.filter((block) => textField(block, 'type') === 'tool_use');
  const stop = textField(reply, 'stop_reason');
  const names = calls.map((call) => textField(call, 'name')).join(', ');
  const unusual = stop !== 'tool_use' && stop !== 'end_turn' && stop !== '';
  const entry = timeline.add(
    {
      kind: 'turn',
      tone: unusual ? 'warn' : 'plain',
      title: `Turn ${turn}`,
      badge: unusual ? lineText(stop, 40) : '',
      summary: lineText(text || (names === '' ? thinking : `calls ${names}`)),
      meta: metaOf(reply),
    },
    [
      ['Thinking', timeline.body(thinking)],
      ['Text', timeline.body(text)],
      ['Other blocks', timeline.body(other)],
    ],
  );
  if (entry >= 0) timeline.turns.push({ turn, ...tokensOf(reply), cost_usd: numberField(reply, 'cost_usd'), entry });
  for (const call of calls) openCall(timeline, call);
  const label = `reply of turn ${turn}`;
  timeline.carried.add({ group: 'replies', label, bytes: Buffer.byteLength(JSON.stringify(content)), entry });
}

function openCall(timeline: Timeline, call: JsonValue): void {
  const { calls, body } = timeline;
  const id = textField(call, 'id');
  const input = inputText(textField(call, 'input_json'));
  const judged = calls.get(id) ?? { verdict: '', rule: '', reason: '' };
  timeline.open(id, {
    ...judged,
    name: lineText(textField(call, 'name'), 80),
    summary: lineText(input),
    input: body(input),
  });
}

function blocksOf(content: readonly JsonValue[]): Blocks {
  const blocks: Blocks = { text: '', thinking: '', other: '' };
  for (const block of content) {
    const type = textField(block, 'type');
    if (type === 'text') blocks.text += textField(block, 'text');
    else if (type === 'thinking') blocks.thinking += textField(block, 'thinking');
    else if (type === 'redacted_thinking') blocks.thinking += '[thinking that the service keeps to itself]\n';
    else if (type !== 'tool_use') blocks.other += `${textField(block, 'json', JSON.stringify(block))}\n`;
  }
  return blocks;
}

function tokensOf(reply: JsonObject): { prompt_tokens: number; cached_tokens: number; output_tokens: number } {
  const usage = objectField(reply, 'usage');
  const count = (name: string): number => numberField(usage, name) ?? 0;
  const cached_tokens = count('cache_read_input_tokens');
  const prompt_tokens = count('input_tokens') + count('cache_creation_input_tokens') + cached_tokens;
  return { prompt_tokens, cached_tokens, output_tokens: count('output_tokens') };
}

function metaOf(reply: JsonObject): string {
  const { prompt_tokens, output_tokens } = tokensOf(reply);
  const cost = fieldOf(reply, 'cost_usd') === null ? null : numberField(reply, 'cost_usd');
  const parts = [`${showCount(prompt_tokens)} in`, `${showCount(output_tokens)} out`, showUsd(cost), spanOf(reply)];
  return parts.filter((part) => part !== '').join(' · ');
}
