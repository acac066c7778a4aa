import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../core/json.ts';
import type { Files, Tool } from '../core/ports.ts';
import { type Edited, insertText, replaceText } from './edit-text.ts';
import { stripNumbers } from './numbered.ts';
import { errorResult, numberField, textField, textResult } from './result.ts';
import { binaryKind, lineAt } from './text-file.ts';
import { NUMBERS_REMOVED } from './write-file.ts';

/** A file above this is changed with other tools. */
const MAX_EDIT_BYTES = 16 * 1024 * 1024;

const DEFINITION = {
  name: 'edit_file',
  description:
    'Changes a UTF-8 file: replaces old_str, which must occur exactly once (or set replace_all), by new_str (absent: deletes it); or inserts insert_text after line insert_line (0 = top).',
  input_schema: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      old_str: { type: 'string' },
      new_str: { type: 'string' },
      replace_all: { type: 'boolean' },
      insert_line: { type: 'integer' },
      insert_text: { type: 'string' },
    },
    required: ['path'],
    additionalProperties: false,
  },
};

/** Changes part of a file and leaves every other byte as it was. */
export function createEditFile(files: Files): Tool {
  return {
    definition: DEFINITION,
    async execute(call, plan) {
      if (plan.kind !== 'file') throw new Error(`edit_file cannot run a plan of kind ${plan.kind}`);
      const read = await readText(files, plan.real);
      if (!read.ok) return errorResult(`${plan.path} was not changed: ${read.reason}`);
      const edited = edit(read.text, call.input);
      if (!edited.ok) return errorResult(`${plan.path} was not changed: ${edited.reason}`);
      const written = await files.write(plan.real, Buffer.from(edited.text));
      if (!written.ok) return errorResult(`${plan.path}: ${written.reason}`);
      const where = `${edited.lines.length > 1 ? `${edited.lines.length} places, first at line` : 'line'} ${edited.lines[0] ?? 1}`;
      return textResult('ok', `changed ${plan.path} (${where})${edited.stripped ? NUMBERS_REMOVED : ''}`);
    },
  };
}

type EditedInput = (Extract<Edited, { ok: true }> & { stripped: boolean }) | Extract<Edited, { ok: false }>;

function edit(text: string, input: JsonObject): EditedInput {
  const old = textField(input, 'old_str');
  const line = numberField(input, 'insert_line');
  const inserted = textField(input, 'insert_text');
  const wrong = (reason: string): EditedInput => ({ ok: false, reason });
  if (old !== undefined && (line ?? inserted) !== undefined) return wrong('give old_str or insert_line, not both');
  if (old !== undefined) return replace(text, old, textField(input, 'new_str') ?? '', input['replace_all'] === true);
  if (line === undefined || inserted === undefined)
    return wrong('give old_str and new_str, or insert_line and insert_text');
  const plain = stripNumbers(inserted);
  const edited = insertText(text, line, plain ?? inserted);
  return edited.ok ? { ...edited, stripped: plain !== undefined } : edited;
}

/** A file that really holds such numbers is edited as asked, so they are taken off only where the text does not occur as given. */
function replace(text: string, old: string, replacement: string, all: boolean): EditedInput {
  const plainOld = stripNumbers(old);
  const literal = plainOld !== undefined && text.includes(old);
  const plainNew = literal ? undefined : stripNumbers(replacement);
  const usedOld = literal ? old : (plainOld ?? old);
  const edited = replaceText(text, usedOld, plainNew ?? replacement, all);
  const stripped = usedOld !== old || plainNew !== undefined;
  return edited.ok ? { ...edited, stripped } : edited;
}

async function readText(
  files: Files,
  real: string,
): Promise<{ ok: true; text: string } | { ok: false; reason: string }> {
  const read = await files.read(real, MAX_EDIT_BYTES);
  if (!read.ok) return read;
  if (read.size > read.bytes.length)
    return { ok: false, reason: `it has ${read.size} bytes; the limit is ${MAX_EDIT_BYTES}` };
  const kind = binaryKind(read.bytes);
  if (kind !== undefined) return { ok: false, reason: `it is ${kind}, not UTF-8 text` };
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(read.bytes);
  if (isUtf8(read.bytes)) return { ok: true, text };
  const line = lineAt(text, text.indexOf('\uFFFD'));
  return { ok: false, reason: `it is not valid UTF-8 (line ${line}), and an edit must not change its other bytes` };
}
