import type { Files, Tool } from '../core/ports.ts';
import { stripNumbers } from './numbered.ts';
import { errorResult, textField, textResult } from './result.ts';

const DEFINITION = {
  name: 'write_file',
  description:
    'Creates a file or replaces its whole content with file_text; missing folders are made. For a part of a file use edit_file.',
  input_schema: {
    type: 'object',
    properties: { path: { type: 'string' }, file_text: { type: 'string' } },
    required: ['path', 'file_text'],
    additionalProperties: false,
  },
};

const BOM = '\uFEFF';
/** Said when a text came with read_file's numbers and was taken without them. */
export const NUMBERS_REMOVED = '; the line numbers of read_file were not part of the file and were taken off';

/** Writes whole files; a byte order mark that the file had stays. */
export function createWriteFile(files: Files): Tool {
  return {
    definition: DEFINITION,
    async execute(call, plan) {
      if (plan.kind !== 'file') throw new Error(`write_file cannot run a plan of kind ${plan.kind}`);
      const given = textField(call.input, 'file_text') ?? '';
      const plain = stripNumbers(given);
      const text = plain ?? given;
      const bytes = Buffer.from((await hasMark(files, plan.real)) && !text.startsWith(BOM) ? BOM + text : text);
      const written = await files.write(plan.real, bytes);
      if (!written.ok) return errorResult(`${plan.path}: ${written.reason}`);
      const done = `${written.created ? 'created' : 'replaced'} ${plan.path} (${bytes.length} bytes)`;
      return textResult('ok', plain === undefined ? done : done + NUMBERS_REMOVED);
    },
  };
}

async function hasMark(files: Files, real: string): Promise<boolean> {
  const head = await files.read(real, Buffer.byteLength(BOM));
  return head.ok && Buffer.from(head.bytes).toString('utf8') === BOM;
}
