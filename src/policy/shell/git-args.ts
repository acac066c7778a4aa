import { HARDENING, hardenedPlace, lookAtGit } from './git.ts';
import type { PathJudge } from './judgement.ts';
import { literal } from './judgement.ts';

/** Verdict over the arguments of the structured git tool; `argv` starts with `git` and is what may run. */
export type GitJudgement =
  | { readonly allowed: true; readonly argv: readonly string[] }
  | { readonly allowed: false; readonly reason: string };

/** Judges arguments for git without a shell: the sub-command must be allowed, and the danger table limits the rest. */
export async function judgeGitArgs(
  args: readonly string[],
  allowedSubcommands: readonly string[],
  paths?: PathJudge,
  cwd = '.',
): Promise<GitJudgement> {
  const refuse = (reason: string): GitJudgement => ({ allowed: false, reason });
  const name = args[0];
  if (name === undefined) return refuse('git needs a sub-command');
  if (!allowedSubcommands.includes(name))
    return refuse(`git ${name} is not allowed; allowed: ${allowedSubcommands.join(', ')}`);
  if (args.some((arg) => arg.includes('\u0000') || /\p{Surrogate}/u.test(arg)))
    return refuse('an argument holds a character that cannot be passed on');
  const words = [literal('git'), ...args.map(literal)];
  // The sub-command itself is the task's choice, known to the table or not; what follows it is limited.
  const findings = lookAtGit(words).findings.filter((finding) => finding.index > 1);
  for (const finding of findings) {
    if (finding.checks === undefined || paths === undefined) return refuse(finding.reason);
    for (const check of finding.checks) {
      const verdict = await paths[check.access](check.path, cwd);
      if (!verdict.ok) return refuse(`${finding.reason}: ${verdict.reason}`);
    }
  }
  const argv = words.map((word) => word.text);
  for (const place of hardenedPlace(words)) argv.splice(place, 0, ...HARDENING);
  return { allowed: true, argv };
}
