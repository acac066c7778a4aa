import { boundsAt } from '../core/graphemes.ts';
import type { JsonObject } from '../core/json.ts';
import type { Files, Plan, Tool, ToolCall, ToolContext, ToolOutput } from '../core/ports.ts';
import { listFolder } from './list-folder.ts';
import type { Media, MediaFile, Shows } from './media.ts';
import { numberLine } from './numbered.ts';
import { errorResult, textResult } from './result.ts';
import { binaryKind, decodeText, splitLines } from './text-file.ts';

/** The start of a stored output (path below the run folder), and its whole size. */
export type ReadStored = (
  path: string,
  max_bytes: number,
) => Promise<{ ok: true; bytes: Uint8Array; size: number } | { ok: false; reason: string }>;

/** Bytes of a file that are looked at; what lies behind can only be reached with other tools. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
/** Stored outputs may be one long line, which could not be paged by lines. */
const WRAP_CHARACTERS = 2000;

const DEFINITION = {
  name: 'read_file',
  description:
    'Reads a text file, each line after number and tab, an image, a PDF or a folder. Paths are relative to the workspace; run:outputs/… pages a stored output. view_range [from, to] picks lines; -1 is the end.',
  input_schema: {
    type: 'object',
    properties: { path: { type: 'string' }, view_range: { type: 'array', items: { type: 'integer' } } },
    required: ['path'],
    additionalProperties: false,
  },
};

export interface ReadFileParts {
  files: Files;
  readStored: ReadStored;
  /** What the model can be shown beside text. */
  shows: Shows;
}

/** Shows files of the workspace and stored outputs of this run, and lists folders. */
export function createReadFile({ files, readStored, shows }: ReadFileParts): Tool {
  return {
    definition: DEFINITION,
    async execute(call, plan, context) {
      const range = rangeOf(call.input);
      if (!range) return errorResult('view_range must be two line numbers [from, to] with 1 <= from <= to, or to = -1');
      if (plan.kind === 'search') return listFolder(files, plan, context);
      const read = await readPlanned(files, readStored, plan);
      if (!read) throw new Error(`read_file cannot run a plan of kind ${plan.kind}`);
      if (!read.ok) return errorResult(`${nameOf(call)}: ${read.reason}`);
      const media = await mediaOf(read, shows, context);
      if (media) return look(nameOf(call), media, read);
      return show({ ...read, name: nameOf(call), wrap: plan.kind === 'run_file' }, range, context);
    },
  };
}

/** Text is what most files are: nothing is loaded for it. */
async function mediaOf(file: MediaFile, shows: Shows, { redact }: ToolContext): Promise<Media | undefined> {
  if (binaryKind(file.bytes) === undefined) return undefined;
  const { mediaBlock } = await import('./media.ts');
  return mediaBlock(file, shows, redact);
}

function look(name: string, media: Media, { size }: { size: number }): ToolOutput {
  if (!media.ok) return errorResult(`${name} cannot be shown: ${media.reason} (${size} bytes)`);
  return { status: 'ok', content: [media.block], bytes: size };
}

interface Range {
  from: number;
  /** -1 is the end. */
  to: number;
}

interface Shown {
  name: string;
  bytes: Uint8Array;
  size: number;
  wrap: boolean;
}

function nameOf(call: ToolCall): string {
  return typeof call.input['path'] === 'string' ? call.input['path'] : '';
}

function rangeOf(input: JsonObject): Range | undefined {
  const value = input['view_range'];
  if (value === undefined) return { from: 1, to: -1 };
  const [from, to, ...rest] = Array.isArray(value) ? value : [];
  if (typeof from !== 'number' || typeof to !== 'number' || rest.length > 0) return undefined;
  return from >= 1 && (to === -1 || to >= from) ? { from, to } : undefined;
}

async function readPlanned(
  files: Files,
  readStored: ReadStored,
  plan: Plan,
): Promise<Awaited<ReturnType<ReadStored>> | undefined> {
  if (plan.kind === 'file') return files.read(plan.real, MAX_READ_BYTES);
  if (plan.kind === 'run_file') return readStored(plan.path, MAX_READ_BYTES);
  return undefined;
}

function show(file: Shown, range: Range, context: ToolContext): ToolOutput {
  const decoded = decodeText(file.bytes);
  if (!decoded.ok) return errorResult(`${file.name} cannot be shown: ${decoded.reason} (${file.size} bytes)`);
  const clean = context.redact(decoded.text.replace(/^\uFEFF/, '').toWellFormed());
  const lines = file.wrap ? splitLines(clean).flatMap(wrapLine) : splitLines(clean);
  if (lines.length === 0) return textResult('ok', '(empty file)');
  if (range.from > lines.length)
    return errorResult(`${file.name} has ${lines.length} lines; view_range starts at ${range.from}`);
  const page = pageOf(lines, range, context.max_output_bytes);
  const notes = [
    ...page.notes,
    ...(decoded.valid ? [] : ['the file is not valid UTF-8; such bytes are shown as U+FFFD']),
    ...(file.size > file.bytes.length
      ? [`only the first ${file.bytes.length} of ${file.size} bytes can be paged`]
      : []),
  ];
  const text = [page.text, ...notes.map((note) => `[${note}]`)].join('\n');
  return { ...textResult('ok', text), bytes: page.bytes };
}

function wrapLine(line: string): string[] {
  if (line.length <= WRAP_CHARACTERS) return [line];
  const characters = [...line];
  const pieces = Array.from(
    { length: Math.ceil(characters.length / WRAP_CHARACTERS) },
    (_, index) => index * WRAP_CHARACTERS,
  );
  return pieces.map((start) => characters.slice(start, start + WRAP_CHARACTERS).join(''));
}

interface Page {
  text: string;
  /** Bytes of the whole range, shown or not. */
  bytes: number;
  notes: string[];
}

/** The head of a range as far as it fits; the note says how to go on. */
function pageOf(lines: readonly string[], range: Range, max_bytes: number): Page {
  const end = range.to === -1 ? lines.length : Math.min(range.to, lines.length);
  const numbered = lines.slice(range.from - 1, end).map((line, index) => numberLine(line, range.from + index));
  const bytes = numbered.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  let used = 0;
  const fitting = numbered.findIndex((line) => (used += Buffer.byteLength(line) + 1) > max_bytes + 1);
  if (fitting === -1) return { text: numbered.join('\n'), bytes, notes: [] };
  if (fitting === 0) return longLine(numbered[0] ?? '', range.from, max_bytes, bytes);
  const last = range.from + fitting - 1;
  const note = `lines ${range.from}-${last} of ${lines.length}; go on with view_range [${last + 1}, ${range.to}]`;
  return { text: numbered.slice(0, fitting).join('\n'), bytes, notes: [note] };
}

function longLine(line: string, number: number, max_bytes: number, bytes: number): Page {
  const whole = Buffer.from(line);
  const text = whole.subarray(0, boundsAt(whole, max_bytes).start).toString('utf8');
  const note = `line ${number} has ${whole.length} bytes and is cut after ${max_bytes}; go on with view_range [${number + 1}, -1]`;
  return { text, bytes, notes: [note] };
}
