import { programName } from './danger-table.ts';
import { inspect } from './inspect.ts';
import type { Arg, Finding, JudgedCommand, PathCheck } from './judgement.ts';
import { literal } from './judgement.ts';
import type { ArgvRule, ShellRules } from './rules.ts';
import { matchesAllow, matchesDeny, parseArgvRule } from './rules.ts';

/** Shell text inside an allowed command that must be judged too, and its place in the list. */
export interface InnerScript {
  readonly index: number;
  readonly text: string;
}

/** What the rules and the danger table say about one list; `checks` and `scripts` are conditions still to be met. */
export type Decision =
  | {
      readonly allowed: true;
      readonly rule: string;
      readonly checks: readonly PathCheck[];
      readonly scripts: readonly InnerScript[];
    }
  | { readonly allowed: false; readonly reason: string; readonly rule?: string };

// Deny rules look at every word behind a launcher, so the work grows with the square of the words.
const MAX_WORDS = 1000;
const MAX_NESTING = 6;

interface Nested {
  readonly rules: ShellRules;
  readonly depth: number;
}

type Blockers =
  | { readonly reason: string }
  | { readonly checks: readonly PathCheck[]; readonly scripts: readonly InnerScript[] };

/** Decides one argument list, and with it every list that a launcher in it would run. */
export function decide(args: readonly Arg[], rules: ShellRules, depth = 0): Decision {
  const name = args[0];
  if (name === undefined) return { allowed: false, reason: 'there is no command' };
  if (name.kind !== 'literal' || name.text === '')
    return { allowed: false, reason: `the program ${JSON.stringify(name.text)} must be a literal word` };
  if (args.length > MAX_WORDS) return { allowed: false, reason: `a command of more than ${MAX_WORDS} words` };
  if (depth > MAX_NESTING) return { allowed: false, reason: 'launchers are nested too deeply' };
  const denied = deniedBy(args, rules.deny);
  if (denied !== undefined)
    return { allowed: false, reason: `the deny rule "${denied.text}" covers it`, rule: denied.text };
  const matching = rules.allow.filter((rule) => matchesAllow(rule, args));
  const exact = matching.find((rule) => !rule.star);
  if (exact !== undefined) return { allowed: true, rule: exact.text, checks: [], scripts: [] };
  let reason: string | undefined;
  for (const rule of matching) {
    const blockers = blockersBeyond(args, rule.words.length, { rules, depth });
    if (!('reason' in blockers)) return { allowed: true, rule: rule.text, ...blockers };
    reason ??= `the rule "${rule.text}" does not cover it: ${blockers.reason}`;
  }
  return { allowed: false, reason: reason ?? noRule(args, rules) };
}

/** What keeps a star from admitting the arguments from `literals` on. */
function blockersBeyond(args: readonly Arg[], literals: number, nested: Nested): Blockers {
  const { findings, wrapped, script } = inspect(args);
  const beyond = findings.filter((finding) => finding.index >= literals);
  const hard = beyond.find((finding: Finding) => finding.checks === undefined);
  if (hard !== undefined) return { reason: hard.reason };
  const checks = beyond.flatMap((finding) => finding.checks ?? []);
  const scripts = script !== undefined && script.index >= literals ? [script] : [];
  for (const list of wrapped) {
    const inner = wrappedBlockers(list, literals, nested);
    if ('reason' in inner) return inner;
    checks.push(...inner.checks);
    scripts.push(...inner.scripts.map(({ index, text }) => ({ index: index + list.index, text })));
  }
  return { checks, scripts };
}

function wrappedBlockers(
  list: { readonly index: number; readonly args: readonly Arg[] },
  literals: number,
  nested: Nested,
): Blockers {
  if (list.args[0]?.text === 'cd') return { reason: 'cd must stand on its own' };
  // A rule that spells the wrapped program grants it; else the wrapped list needs a rule of its own.
  if (list.index < literals) return blockersBeyond(list.args, literals - list.index, nested);
  const inner = decide(list.args, nested.rules, nested.depth + 1);
  if (inner.allowed) return inner;
  return { reason: `it runs ${describe(list.args)}, which needs a rule of its own (${inner.reason})` };
}

/** The deny rule that covers the list or, behind a launcher, any list that starts at a later word. */
function deniedBy(args: readonly Arg[], deny: readonly ArgvRule[]): ArgvRule | undefined {
  if (deny.length === 0) return undefined;
  const words = args.map((arg) => arg.text);
  const { launches } = inspect(args);
  const starts = launches ? words.map((_, index) => index) : [0];
  return deny.find((rule) =>
    starts.some((start) => {
      const list = words.slice(start);
      return matchesDeny(rule, list) || matchesDeny(rule, [programName(list[0] ?? ''), ...list.slice(1)]);
    }),
  );
}

function noRule(args: readonly Arg[], rules: ShellRules): string {
  const known = rules.allow.map((rule) => `"${rule.text}"`).join(', ');
  return `no rule allows ${describe(args)}; allowed: ${known === '' ? 'nothing' : known}`;
}

function describe(args: readonly Arg[]): string {
  const text = args.map((arg) => arg.text).join(' ');
  return `"${text.length > 120 ? `${text.slice(0, 120)}…` : text}"`;
}

/** The tightest rule that would allow the list, as `explain` shows it; none if no rule could. */
export function narrowestRule(args: readonly Arg[]): string | undefined {
  for (let length = args.length; length > 0; length -= 1) {
    const words = args.slice(0, length).map((arg) => arg.text);
    const text = length === args.length ? words.join(' ') : `${words.join(' ')} *`;
    const rule = parseArgvRule(text);
    if ('error' in rule || args.slice(0, length).some((arg) => arg.kind !== 'literal') || rule.words.length !== length)
      continue;
    const decision = decide(args, { allow: [rule], deny: [] });
    return decision.allowed ? text : undefined;
  }
  return undefined;
}

/** Judges an argument list that runs without a shell; paths that only file rules could clear are refused. */
export function judgeArgv(argv: readonly string[], rules: ShellRules): JudgedCommand {
  const args = argv.map(literal);
  const decision = argv.some((word) => word.includes('\u0000'))
    ? ({ allowed: false, reason: 'an argument holds a NUL character' } as const)
    : decide(args, rules);
  const open = decision.allowed ? openCondition(decision.checks, decision.scripts) : undefined;
  return describeCommand(args, argv.join(' '), open === undefined ? decision : { allowed: false, reason: open });
}

function openCondition(checks: readonly PathCheck[], scripts: readonly InnerScript[]): string | undefined {
  if (checks[0] !== undefined)
    return `${JSON.stringify(checks[0].path)} is not admitted by a star (${checks[0].access})`;
  return scripts.length > 0 ? 'shell text inside an argument is not admitted by a star' : undefined;
}

/** The record of a decision, with the narrowest rule where it was refused. */
export function describeCommand(args: readonly Arg[], text: string, decision: Decision): JudgedCommand {
  const argv = args.map((arg) => arg.text);
  if (decision.allowed) return { argv, text, verdict: 'allow', rule: decision.rule };
  const narrowest = decision.rule === undefined ? narrowestRule(args) : undefined;
  return {
    argv,
    text,
    verdict: 'deny',
    reason: decision.reason,
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    ...(narrowest === undefined ? {} : { narrowest_rule: narrowest }),
  };
}
