import type { Arg } from './judgement.ts';

/** One rule: literal words, then either nothing more or any further arguments. */
export interface ArgvRule {
  readonly text: string;
  readonly words: readonly string[];
  readonly star: boolean;
}

/** Allow and deny rules of one tool; deny wins, no allow rule means no. */
export interface ShellRules {
  readonly allow: readonly ArgvRule[];
  readonly deny: readonly ArgvRule[];
}

const OPERATOR = /^(?:&&?|\|\|?|\|&|;{1,2}|\d*[<>].*|&>.*|\(|\))$|;$|`|\$[({]/;
const QUOTED = /^['"]|['"]$/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

/** Reads a rule such as `git log *`; the error names what is wrong with it. */
export function parseArgvRule(text: string, kind: 'allow' | 'deny' = 'allow'): ArgvRule | { readonly error: string } {
  const fail = (why: string): { readonly error: string } => ({ error: `${kind} rule ${JSON.stringify(text)}: ${why}` });
  if (text.trim() === '') return fail('it is empty; name a program');
  // eslint-disable-next-line no-control-regex -- a control character is exactly what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return fail('it holds a control character; use single spaces');
  const all = text.split(' ');
  if (all.includes('')) return fail('words are separated by single spaces, with none before or after');
  const star = all.length > 1 && all.at(-1) === '*';
  const words = star ? all.slice(0, -1) : all;
  if (words[0] === '*') return fail('a star cannot stand for the program; name it');
  const wrong = words.find((word) => OPERATOR.test(word) || QUOTED.test(word));
  if (wrong !== undefined) {
    return fail(
      `${JSON.stringify(wrong)} can never be an argument; a rule is one command, its words without quotes or operators`,
    );
  }
  if (ASSIGNMENT.test(words[0] ?? ''))
    return fail('an assignment before a command is never allowed; start with the program');
  if (kind === 'deny') return { text, words, star: star || (words.at(-1)?.endsWith('*') ?? false) };
  const glued = words.find((word) => word.includes('*'));
  if (glued !== undefined) {
    return fail(`the star in ${JSON.stringify(glued)} would not be a wildcard; only a separate last star is one`);
  }
  return { text, words, star };
}

/** Whether an allow rule covers the list; globs and `$?` are only ever covered by the star. */
export function matchesAllow(rule: ArgvRule, args: readonly Arg[]): boolean {
  if (rule.star ? args.length < rule.words.length : args.length !== rule.words.length) return false;
  return rule.words.every((word, index) => args[index]?.kind === 'literal' && args[index].text === word);
}

/**
 * Whether a deny rule covers the list. It errs towards yes: options of the rule may stand anywhere, be abbreviated,
 * clustered or carry a value, so that `git push --force *` also covers `git push origin -v --force`.
 */
export function matchesDeny(rule: ArgvRule, args: readonly string[]): boolean {
  if (!rule.star) return rule.words.length === args.length && matchWords(rule.words, args);
  if (matchWords(rule.words, args.slice(0, rule.words.length))) return true;
  const options = args.filter((arg) => arg.startsWith('-') && arg.length > 1);
  const operands = args.filter((arg) => !options.includes(arg));
  const wantedOptions = rule.words.filter((word) => word.startsWith('-'));
  const wantedOperands = rule.words.filter((word) => !word.startsWith('-') && word !== '*');
  const isAnywhere = (word: string, index: number): boolean => index > 0 && word.includes('*');
  const fixed = wantedOperands.filter((word, index) => !isAnywhere(word, index));
  if (!matchWords(fixed, operands.slice(0, fixed.length))) return false;
  const free = wantedOperands.filter(isAnywhere);
  if (!free.every((word) => operands.some((operand) => matchWord(word, operand)))) return false;
  return wantedOptions.every((wanted) => hasOption(wanted, options));
}

function matchWords(words: readonly string[], args: readonly string[]): boolean {
  return words.length === args.length && words.every((word, index) => matchWord(word, args[index] ?? ''));
}

function matchWord(word: string, arg: string): boolean {
  return word === arg || (word.includes('*') && wildcard(word).test(arg));
}

function wildcard(word: string): RegExp {
  const source = word.split('*').map((piece) => piece.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${source.join('[^]*')}$`, 'u');
}

function hasOption(wanted: string, options: readonly string[]): boolean {
  if (options.some((option) => matchWord(wanted, option))) return true;
  const name = wanted.replace(/[=*].*$/, '');
  if (name.startsWith('--')) return options.some((option) => isSpelling(name, option, wanted.endsWith('*')));
  // Short ones are compared letter by letter, because `-fr`, `-r -f` and `-rf` mean the same.
  const letters = /^-\w{1,3}$/.test(name) ? name.slice(1).split('') : [];
  const clusters = options.filter((option) => !option.startsWith('--')).join('');
  return letters.length > 0 && letters.every((letter) => clusters.includes(letter));
}

function isSpelling(name: string, option: string, open: boolean): boolean {
  const given = option.replace(/=.*$/, '');
  if (given.length > 3 && given.startsWith('--') && name.startsWith(given)) return true;
  return open && given.startsWith(name);
}
