import type { Arg, Finding, Inspection } from './judgement.ts';
import { leadingGlobs, scanOptions } from './options.ts';
import { guardFinding, readFinding } from './paths.ts';

const OPTIONS = {
  runs: ['-f', '--file'],
  writes: [],
  value_shorts: 'efl',
  value_longs: ['--expression', '--file', '--line-length'],
} as const;
const FLAGS =
  /^-[nErsuzb]+$|^--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|sandbox|version|help)$/;

/** `sed`: a plain editing script that only prints, or edits in place where the file rules allow it. */
export function lookAtSed(args: readonly Arg[]): Inspection {
  const scan = scanOptions(args, 1, 'sed', OPTIONS);
  const findings: Finding[] = [...scan.findings, ...leadingGlobs(args, scan.end)];
  const { scripts, inPlace, unknown } = readOptions(args, scan.end ?? args.length);
  findings.push(...unknown);
  const operands = scan.operands.filter(({ index }) => !scripts.has(index));
  const first = scripts.size === 0 ? operands.shift() : undefined;
  if (first !== undefined) scripts.set(first.index, first.arg.text);
  for (const [index, script] of scripts) {
    if (args[index]?.kind !== 'literal' || !isPlainSed(script)) {
      findings.push({
        index,
        reason: `sed: a star admits only a plain script (p, d, =, q, s without e or w), not ${JSON.stringify(script)}`,
      });
    }
  }
  for (const { index, arg } of operands) {
    findings.push(
      ...present(inPlace === undefined ? readFinding(arg, index, 'sed') : guardFinding(arg, index, 'sed -i')),
    );
  }
  if (inPlace !== undefined)
    findings.push(
      editFinding(
        operands.map(({ arg }) => arg),
        inPlace,
      ),
    );
  return { findings, wrapped: [], launches: false };
}

/** `-i` itself is the write: a rule that spells it grants it, else the file rules must accept every file. */
function editFinding(files: readonly Arg[], index: number): Finding {
  const reason = 'sed -i writes the files';
  if (files.length === 0 || files.some((file) => file.kind !== 'literal')) return { index, reason };
  return { index, reason, checks: files.map((file) => ({ access: 'write', path: file.text })) };
}

function present(finding: Finding | undefined): readonly Finding[] {
  return finding === undefined ? [] : [finding];
}

interface SedOptions {
  readonly scripts: Map<number, string>;
  readonly inPlace: number | undefined;
  readonly unknown: readonly Finding[];
}

function readOptions(args: readonly Arg[], end: number): SedOptions {
  const scripts = new Map<number, string>();
  const unknown: Finding[] = [];
  let inPlace: number | undefined;
  for (let index = 1; index < end; index += 1) {
    const text = args[index]?.text ?? '';
    if (!text.startsWith('-') || text === '-') continue;
    if (text === '-i' || text === '--in-place' || /^-[nErsz]+i$/.test(text)) inPlace ??= index;
    else if (/^-[nErsz]*e$|^--expression$/.test(text)) scripts.set((index += 1), args[index]?.text ?? '');
    else if (text.startsWith('--expression=')) scripts.set(index, text.slice('--expression='.length));
    else if (/^-e./.test(text)) scripts.set(index, text.slice(2));
    else if (!FLAGS.test(text)) unknown.push({ index, reason: `sed ${text}: a star does not admit this option` });
  }
  return { scripts, inPlace, unknown };
}

const REGEX_ADDRESS = String.raw`/(?:[^/\\\n\[]|\\[^\n]|\[\^?\]?[^\]/\n\\]*\])*/[IM]?`;
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|${REGEX_ADDRESS})`;
const RANGE = new RegExp(String.raw`^(?:${ADDRESS}(?:\s*,\s*(?:${ADDRESS}|[+~]\d+))?)?\s*!?\s*`);
const SIMPLE = /^(?:[pd=nNhHgGxPD]|[qQ]\d*|l\d*)(?=\s*(?:[;}\n]|$))/;

/** Whether a sed script uses nothing but the plain subset: no e, w, r, labels or text to insert. */
export function isPlainSed(script: string): boolean {
  let rest = script;
  let depth = 0;
  while (rest !== '') {
    rest = rest.replace(/^[\s;]+/, '');
    if (rest === '') break;
    if (rest.startsWith('}')) {
      depth -= 1;
      rest = rest.slice(1);
      if (depth < 0) return false;
      continue;
    }
    rest = rest.slice(RANGE.exec(rest)?.[0].length ?? 0);
    if (rest.startsWith('{')) {
      depth += 1;
      rest = rest.slice(1);
      continue;
    }
    const length = SIMPLE.exec(rest)?.[0].length ?? substitution(rest);
    if (length === 0) return false;
    rest = rest.slice(length);
  }
  return depth === 0;
}

/** The length of a plain `s` or `y` command at the start of the text, 0 if it is none. */
function substitution(text: string): number {
  const delimiter = text[1] ?? '';
  if (!/^[sy]$/.test(text[0] ?? '') || !/^[/|,#@:%_+!~]$/.test(delimiter)) return 0;
  let place = 2;
  for (let part = 0; part < 2; part += 1) {
    while (place < text.length && text[place] !== delimiter) {
      if (text[place] === '\n') return 0;
      // GNU sed ends the part at a delimiter inside brackets and other seds do not: then nothing is sure.
      if (part === 0 && text[place] === '[' && hidesDelimiter(text.slice(place + 1), delimiter)) return 0;
      place += text[place] === '\\' ? 2 : 1;
    }
    if (place >= text.length) return 0;
    place += 1;
  }
  const flags =
    text[0] === 's'
      ? /^[gpIim\dM]*(?=\s*(?:[;}\n]|$))/.exec(text.slice(place))
      : /^(?=\s*(?:[;}\n]|$))/.exec(text.slice(place));
  return flags === null ? 0 : place + flags[0].length;
}

function hidesDelimiter(text: string, delimiter: string): boolean {
  const end = text.indexOf(']', text.startsWith('^') ? 2 : 1);
  return end >= 0 && text.slice(0, end).includes(delimiter);
}
