import { realpath } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { createPathJudge } from './command.ts';
import type { Decision, PolicyParts } from './decision.ts';
import { leaves } from './protected.ts';
import { judgeGitArgs } from './shell/git-args.ts';
import { isReadingGit } from './shell/git.ts';
import { literal } from './shell/judgement.ts';

/** Judges the argument list of the git tool, where no shell stands in between: the rule names the sub-command, the danger table limits the rest. */
export async function judgeGit(
  parts: PolicyParts,
  allowed: ReadonlySet<string>,
  args: readonly string[],
): Promise<Decision> {
  const [subcommand] = args;
  if (subcommand === undefined || subcommand.startsWith('-')) {
    const names = [...allowed].join(', ');
    const reason = `git: the first argument must be the sub-command, without options before it; allowed: ${names}`;
    return { ok: false, reason };
  }
  const judged = await judgeGitArgs(args, [...allowed], createPathJudge(parts));
  const rule = allowed.has(subcommand) ? { rule: `git ${subcommand}` } : {};
  if (!judged.allowed) return { ok: false, reason: judged.reason, ...rule };
  const link = await linkProblem(parts, args);
  if (link !== undefined) return { ok: false, reason: link, ...rule };
  // The tool adds what keeps helpers off, to these arguments and in one place.
  const argv = ['git', ...args];
  const effect = isReadingGit(argv.map(literal)) ? 'read' : 'write';
  return { ok: true, plan: { kind: 'argv', effect, argv }, rule: `git ${subcommand}` };
}

/** Outside a repository `git diff` follows links that it is given by name. */
async function linkProblem({ files }: PolicyParts, args: readonly string[]): Promise<string | undefined> {
  for (const arg of args.slice(1)) {
    const real = await realpath(resolve(files.root, arg)).catch(() => undefined); // a revision is no file, and that is fine
    if (real !== undefined && leaves(relative(files.root, real))) return `${arg} leads out of the workspace`;
  }
  return undefined;
}
