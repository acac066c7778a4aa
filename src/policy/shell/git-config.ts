import type { Arg, Finding } from './judgement.ts';
import { readFinding } from './paths.ts';

const READS = /^(?:--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool|--list|-l|get|list)$/;
const FLAGS =
  /^(?:--global|--system|--local|--worktree|--fixed-value|--bool|--int|--bool-or-int|--bool-or-str|--path|--expiry-date|--null|-z|--name-only|--includes|--no-includes|--show-origin|--show-scope|--all|--regexp|--show-names|--type=[\w-]+|--default=.*)$/;
const PLACES = /^(?:-f|--file|--blob|-t|--type|--default)$/;

/** `git config`: only the forms that read. */
export function lookAtGitConfig(args: readonly Arg[], at: number): readonly Finding[] {
  const findings: Finding[] = [];
  let reads = false;
  let operands = 0;
  for (let index = at + 1; index < args.length; index += 1) {
    const arg = args[index];
    if (arg === undefined) break;
    if (arg.kind === 'glob' || arg.kind === 'leading_glob')
      findings.push({ index, reason: `git config ${arg.text}: a glob may become a key and a value` });
    if (READS.test(arg.text) && (arg.text.startsWith('-') || operands === 0)) reads = true;
    else if (PLACES.test(arg.text)) findings.push(...placeFinding(args, (index += 1)));
    else if (arg.text.startsWith('-') && !FLAGS.test(arg.text))
      findings.push({ index, reason: `git config ${arg.text} changes the configuration` });
    else if (!arg.text.startsWith('-')) operands += 1;
    if (!reads && operands > 1) findings.push({ index, reason: 'git config with a value changes the configuration' });
  }
  return findings;
}

function placeFinding(args: readonly Arg[], index: number): readonly Finding[] {
  const value = args[index];
  const finding = value === undefined ? undefined : readFinding(value, index, 'git config');
  return finding === undefined ? [] : [finding];
}
