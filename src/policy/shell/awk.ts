import type { Arg, Finding, Inspection } from './judgement.ts';
import { readFinding } from './paths.ts';

const TOKEN = /\s+|;|"(?:[^"\\\n]|\\[\\/"ntr])*"|\d+(?:\.\d+)?|[A-Za-z_]\w*|&&|\|\||!~|[-+*/%^=!~?:,$()[\]{}<>]/y;
const REGEX = /\/(?:[^/\\\n[]|\\[^\n]|\[[^\]/\n\\]+\])+\//y;
const FUNCTIONS = new Set([
  'length',
  'substr',
  'index',
  'split',
  'sub',
  'gsub',
  'match',
  'tolower',
  'toupper',
  'sprintf',
  'int',
]);
const WORDS = new Set(['print', 'printf', 'if', 'else', 'for', 'while', 'do', 'in', 'next', 'exit', 'BEGIN', 'END']);
const REFUSED =
  /^(?:system|getline|close|fflush|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARGV|ARGC|function|func|nextfile|switch)$/;
const VARIABLE = /^[a-z]\w*=/;

/** `awk`: only programs that compute and print; no files, pipes, calls out or environment. */
export function lookAtAwk(args: readonly Arg[]): Inspection {
  const findings: Finding[] = [];
  let index = 1;
  while (/^-[Fv]/.test(args[index]?.text ?? '') && args[index]?.kind === 'literal') {
    const text = args[index]?.text ?? '';
    const value = text.length > 2 ? text.slice(2) : (args[index + 1]?.text ?? '');
    if (text.startsWith('-v') && !VARIABLE.test(value))
      findings.push({ index, reason: `awk -v ${value}: only plain variables` });
    index += text.length > 2 ? 1 : 2;
  }
  const program = args[index];
  if (program?.kind !== 'literal' || program.text.startsWith('-') || !isPlainAwk(program.text)) {
    findings.push({
      index,
      reason: 'awk: a star admits only programs that compute and print, without files, pipes or calls',
    });
  }
  for (const [place, arg] of args.entries()) {
    if (place <= index) continue;
    const isFile = !arg.text.startsWith('-') && !arg.text.includes('=') && arg.kind !== 'leading_glob';
    const finding = isFile
      ? readFinding(arg, place, 'awk')
      : { index: place, reason: `awk ${arg.text}: only files may follow` };
    if (finding !== undefined) findings.push(finding);
  }
  return { findings, wrapped: [], launches: false };
}

/** Whether an awk program is made only of tokens that can compute and print. */
export function isPlainAwk(program: string): boolean {
  let place = 0;
  let depth = 0;
  let previous = ';';
  while (place < program.length) {
    const token = program[place] === '/' ? readSlash(program, place, previous) : readToken(program, place);
    if (token === undefined) return false;
    place += token.length;
    if (/^\s+$/.test(token)) {
      if (token.includes('\n')) previous = ';';
      continue;
    }
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
    // Inside an action `>` could name a file to print to.
    if (token === '>' && depth > 0) return false;
    if (/^[A-Za-z_]/.test(token) && !isHarmless(token, program.slice(place, place + 80))) return false;
    previous = token;
  }
  return depth === 0;
}

/** A slash divides behind a variable, a number or an index; elsewhere it must start a regular expression. */
function readSlash(program: string, place: number, previous: string): string | undefined {
  const isName = /^[A-Za-z_]/.test(previous) && !WORDS.has(previous) && !FUNCTIONS.has(previous);
  if (isName || /^\d/.test(previous) || previous === ']') return '/';
  // Behind a bracket or a text both are possible, depending on what stands further left.
  if (previous === ')' || previous.startsWith('"') || FUNCTIONS.has(previous) || /^[+-]$/.test(previous))
    return undefined;
  REGEX.lastIndex = place;
  return REGEX.exec(program)?.[0];
}

function readToken(program: string, place: number): string | undefined {
  TOKEN.lastIndex = place;
  return TOKEN.exec(program)?.[0];
}

function isHarmless(word: string, rest: string): boolean {
  if (REFUSED.test(word)) return false;
  const isCall = /^\s*\(/.test(rest);
  return !isCall || FUNCTIONS.has(word) || WORDS.has(word);
}
