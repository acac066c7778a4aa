import type { Arg, Finding, Inspection, Wrapped } from './judgement.ts';
import { readFinding } from './paths.ts';

const EXEC = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const WRITES = new Set(['-delete', '-fprint', '-fprint0', '-fprintf', '-fls']);
const PLAIN = new Set(['-H', '-L', '-P']);

/** `find`: actions that write are findings, `-exec` and its kin are wrapped lists. */
export function lookAtFind(args: readonly Arg[]): Inspection {
  const findings: Finding[] = [];
  const wrapped: Wrapped[] = [];
  let inPaths = true;
  for (let index = 1; index < args.length; index += 1) {
    const arg = args[index];
    if (arg === undefined) break;
    if (arg.kind === 'leading_glob')
      findings.push({ index, reason: `${arg.text}: quote the pattern, a file name could become an action` });
    if (inPaths && !PLAIN.has(arg.text)) inPaths = !/^(?:-.|[(),!]$)/.test(arg.text);
    if (inPaths && !PLAIN.has(arg.text)) findings.push(...startingPoint(arg, index));
    if (WRITES.has(arg.text)) findings.push({ index, reason: `find ${arg.text} writes or deletes files` });
    if (arg.text === '-files0-from') findings.push({ index, reason: 'find -files0-from reads names from a file' });
    if (!EXEC.has(arg.text)) continue;
    const list = wrappedList(args, index + 1);
    wrapped.push(list);
    if (list.args[0]?.kind !== 'literal')
      findings.push({ index, reason: `find ${arg.text}: the program must be a literal word` });
  }
  return { findings, wrapped, launches: true };
}

function startingPoint(arg: Arg, index: number): readonly Finding[] {
  const finding = readFinding(arg, index, 'find');
  return finding === undefined ? [] : [finding];
}

/** The words up to `;` or `{} +`; names that find puts in start with a starting point, so never with a dash. */
function wrappedList(args: readonly Arg[], start: number): Wrapped {
  const end = args.findIndex((arg, index) => index >= start && isEnd(arg, args[index - 1]));
  const own = args.slice(start, end < 0 ? args.length : end);
  return { index: start, args: own.map((arg) => (arg.text.includes('{}') ? { text: arg.text, kind: 'glob' } : arg)) };
}

function isEnd(arg: Arg, previous: Arg | undefined): boolean {
  return arg.text === ';' || (arg.text === '+' && previous?.text === '{}');
}
