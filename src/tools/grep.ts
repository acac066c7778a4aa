import { compileGlobs } from '../core/globs.ts';
import type { JsonObject } from '../core/json.ts';
import type { Files, Plan, Tool, ToolContext, ToolOutput } from '../core/ports.ts';
import { type LineMatcher, useMatcher } from './line-matcher.ts';
import { TOO_MANY } from './list-folder.ts';
import { cutResult, errorResult, numberField, textField, textResult } from './result.ts';
import { callSignal, findFiles, type Found, matchFailure } from './search.ts';
import { decodeText, splitLines } from './text-file.ts';

const DEFINITION = {
  name: 'grep',
  description:
    'Finds lines that match a JavaScript regular expression, as path:line:text. path: folder or file (default: the workspace); glob: only such files; what .gitignore names is left out.',
  input_schema: {
    type: 'object',
    properties: {
      pattern: { type: 'string' },
      path: { type: 'string' },
      glob: { type: 'string' },
      ignore_case: { type: 'boolean' },
      max_results: { type: 'integer' },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
};

const DEFAULT_RESULTS = 200;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const LONGEST_LINE = 400;
/** Files read and matched together; each message to the thread costs as much as a small file. */
const BATCH_FILES = 16;

/** Searches text files line by line. */
export function createGrep(files: Files): Tool {
  return {
    definition: DEFINITION,
    async execute(call, plan, context) {
      const pattern = textField(call.input, 'pattern') ?? '';
      const compiled = compile(pattern, call.input['ignore_case'] === true);
      if (!compiled.ok) return errorResult(compiled.reason);
      const limit = numberField(call.input, 'max_results') ?? DEFAULT_RESULTS;
      if (limit < 1) return errorResult(`max_results is ${limit}; it must be 1 or more`);
      const signal = callSignal(context);
      const found = await candidates(files, plan, call.input, signal);
      if (!found.ok) return textResult(found.status, found.text);
      const search = { files, pattern, limit, context, admits: admitsBy(plan) };
      return useMatcher(compiled.regExp, signal, async (matcher) => searchFiles({ ...search, matcher }, found));
    },
  };
}

interface Search {
  files: Files;
  matcher: LineMatcher;
  pattern: string;
  limit: number;
  context: ToolContext;
  /** Whether the rule admits the place that a path really is. */
  admits: (path: string) => boolean;
}

/** A link's own name was judged when it was listed; where it leads must be admitted too. */
function admitsBy(plan: Plan): (path: string) => boolean {
  if (plan.kind !== 'search') return () => true;
  const globs = compileGlobs(plan.within);
  return (path) => globs(path)?.included === true;
}

type Compiled = { ok: true; regExp: RegExp } | { ok: false; reason: string };

/** `(?i)` at the start is what other engines write for `ignore_case`. */
function compile(pattern: string, ignoreCase: boolean): Compiled {
  const inline = pattern.startsWith('(?i)');
  const source = inline ? pattern.slice(4) : pattern;
  const flags = ignoreCase || inline ? 'i' : '';
  if (source === '') return { ok: false, reason: 'the pattern is empty' };
  try {
    return { ok: true, regExp: new RegExp(source, `${flags}u`) };
  } catch {
    // SyntaxError: the strict mode refuses escapes that the older one takes as they are.
  }
  try {
    return { ok: true, regExp: new RegExp(source, flags) };
  } catch (error) {
    // SyntaxError: no regular expression at all.
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

async function candidates(files: Files, plan: Plan, input: JsonObject, signal: AbortSignal): Promise<Found> {
  if (plan.kind === 'search') return findFiles(files, plan, textField(input, 'glob'), signal);
  if (plan.kind !== 'file') throw new Error(`grep cannot run a plan of kind ${plan.kind}`);
  const read = await files.read(plan.real, 1);
  if (!read.ok) return { ok: false, status: 'error', text: `${plan.path}: ${read.reason}` };
  return { ok: true, paths: [plan.path], more: false };
}

async function searchFiles(search: Search, found: Extract<Found, { ok: true }>): Promise<ToolOutput> {
  const lines: string[] = [];
  const skipped: string[] = [];
  for (let at = 0; at < found.paths.length && lines.length <= search.limit; at += BATCH_FILES) {
    const paths = found.paths.slice(at, at + BATCH_FILES);
    const texts = await Promise.all(paths.map(async (path) => textOf(search, path)));
    skipped.push(...paths.filter((_, index) => texts[index] === undefined));
    const hits = await matchesOf(search, paths, texts, search.limit + 1 - lines.length);
    if (!hits.ok) return cutResult(hits.status, [...lines, hits.text].join('\n'), search.context);
    lines.push(...hits.lines);
  }
  const shown = lines.slice(0, search.limit);
  const notes = [
    ...(lines.length > shown.length
      ? [`[only the first ${search.limit} matches; set max_results or narrow the search]`]
      : []),
    ...(skipped.length > 0 ? [`[not searched, too large or unreadable: ${skipped.slice(0, 5).join(', ')}]`] : []),
    ...(found.more ? [TOO_MANY] : []),
  ];
  return cutResult('ok', [...(shown.length > 0 ? shown : ['no match']), ...notes].join('\n'), search.context);
}

/** Text of a file; '' for one that is no text or that the rule keeps closed, undefined for one that is too large or cannot be read. */
async function textOf({ files, admits }: Search, path: string): Promise<string | undefined> {
  const at = await files.resolve(path, 'read');
  if (at.ok && !admits(at.path)) return '';
  const read = at.ok ? await files.read(at.real, MAX_FILE_BYTES) : at;
  if (!read.ok || read.size > read.bytes.length) return undefined;
  const decoded = decodeText(read.bytes);
  return decoded.ok ? decoded.text.replace(/^\uFEFF/, '') : '';
}

type Hits = { ok: true; lines: string[] } | { ok: false; status: ToolOutput['status']; text: string };

async function matchesOf(
  search: Search,
  paths: readonly string[],
  texts: readonly (string | undefined)[],
  limit: number,
): Promise<Hits> {
  const match = await search.matcher.match(
    texts.map((text) => text ?? ''),
    { limit },
  );
  if (!match.ok) return { ok: false, ...matchFailure(match, search.pattern) };
  const split = new Map<number, string[]>();
  const lines = match.hits.map(([file, line]) => {
    const all = split.get(file) ?? splitLines(texts[file] ?? '');
    split.set(file, all);
    // Redacted before it is shortened: half of a secret would not be recognised any more.
    return `${paths[file] ?? ''}:${line + 1}:${shorten(search.context.redact(all[line] ?? ''))}`;
  });
  return { ok: true, lines };
}

function shorten(line: string): string {
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE).toWellFormed()}…`;
}
