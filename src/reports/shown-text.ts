// Texts of others as the page shows them: what is unseen becomes an escape, and what is long is cut.

import { cutMiddle } from '../core/cut.ts';
import { isJsonObject, type JsonValue, parseJson } from '../core/json.ts';
import { showControls } from '../core/sanitise.ts';
import { fieldOf, listField, textField } from './fields.ts';

const MAX_BODY_BYTES = 256 * 1024;

/** A text of at most 256 KiB; the whole stands at the line of the transcript that the note names. */
export function bodyText(text: string, line: number): string {
  const { text: cut } = cutMiddle(text, MAX_BODY_BYTES, `the whole is in line ${line} of transcript.jsonl`);
  return showControls(cut.replaceAll(/\r\n?/g, '\n'));
}

/** The beginning of a text on one line. */
export function lineText(text: string, longest = 160): string {
  const line = text
    .slice(0, longest * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const cut = line.length <= longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`;
  return showControls(cut, true);
}

/** A tool's input by its parameters, a text of several lines as such; what is no JSON object as it arrived. */
export function inputText(input_json: string): string {
  const parsed = parseJson(input_json);
  if (!parsed.ok || !isJsonObject(parsed.value)) return input_json;
  return Object.entries(parsed.value)
    .map(([name, value]) => `${name}:${separator(value)}${valueText(value)}`)
    .join('\n');
}

function separator(value: JsonValue): string {
  return typeof value === 'string' && value.includes('\n') ? '\n' : ' ';
}

function valueText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** All that blocks of a message hold, in order; pictures and what is not known are named. */
export function blocksText(blocks: readonly JsonValue[]): string {
  return blocks.map(blockText).join('\n');
}

function blockText(block: JsonValue): string {
  const type = textField(block, 'type');
  if (type === 'text') return textField(block, 'text');
  if (type === 'tool_result')
    return `[answer to ${textField(block, 'tool_use_id')}]\n${blocksText(listField(block, 'content'))}`;
  const source = fieldOf(block, 'source');
  return source === undefined
    ? JSON.stringify(block)
    : `[${type} ${textField(source, 'media_type')}, ${textField(source, 'data').length} characters of base64]`;
}
