import type { Files, ResolvedPath } from '../core/ports.ts';
import type { Decision, PolicyParts } from './decision.ts';
import { compilePathRule, type FileVerdict, judgeFolder, judgeLocated, locate, resolveReadable } from './paths.ts';
import type { PathJudge, PathVerdict, ShellJudgement } from './shell/judgement.ts';
import type { ShellRules } from './shell/rules.ts';

/** Judges a shell text; the plan's script is re-emitted from what was judged. */
export async function judgeCommand(parts: PolicyParts, rules: ShellRules, text: string): Promise<Decision> {
  const judged = await judgeText(text, rules, createPathJudge(parts));
  const used = [...new Set(judged.commands.flatMap((command) => command.rule ?? []))];
  if (judged.allowed) {
    const plan = { kind: 'script', effect: judged.effect, script: judged.script } as const;
    return { ok: true, plan, rule: `bash ${used.join(', ')}` };
  }
  const denied = judged.commands.find((command) => command.verdict === 'deny' && command.rule !== undefined);
  const allowed = rules.allow.map((rule) => `"${rule.text}"`).join(', ');
  const reason = judged.reason.includes('allowed: ') ? judged.reason : `${judged.reason} Allowed commands: ${allowed}.`;
  return { ok: false, reason, ...(denied?.rule !== undefined && { rule: `bash ${denied.rule}` }) };
}

/** What `agent-run explain` shows: each simple command with its verdict and rule. */
export async function explainParts(parts: PolicyParts, text: string): Promise<ShellJudgement> {
  const { shell } = parts.rules;
  if (!shell) return { allowed: false, reason: 'this task has no bash rules, so no command is allowed', commands: [] };
  return judgeText(text, shell, createPathJudge(parts));
}

/** The judge and its tables are a tenth of our code, and only who runs commands needs them. */
async function judgeText(text: string, rules: ShellRules, paths: PathJudge): Promise<ShellJudgement> {
  const { judgeShell } = await import('./shell/judge.ts');
  return judgeShell(text, rules, paths);
}

/** Redirects and `cd` as the file tools would judge them: write_file's paths for writes, read_file's for reads if it has a rule. */
export function createPathJudge({ rules, files, guards }: PolicyParts): PathJudge {
  const readRules = rules.files.get('read_file') ?? [compilePathRule('read_file', 'read', {})];
  const writeRules = rules.files.get('write_file') ?? [];
  return {
    async read(path, cwd) {
      const at = await locateFrom(files, [path, cwd], (full) => resolveReadable(files, full));
      return at.ok
        ? firstGranted(
            at,
            readRules.map((rule) => judgeLocated(rule, at, files, guards.guard)),
          )
        : at;
    },
    async write(path, cwd) {
      if (writeRules.length === 0)
        return { ok: false, reason: `${path}: a redirect is a write, and the task has no write_file rule` };
      const at = await locateFrom(files, [path, cwd], (full) => files.resolve(full, 'write'));
      return at.ok
        ? firstGranted(
            at,
            writeRules.map((rule) => judgeLocated(rule, at, files, guards.guard)),
          )
        : at;
    },
    async directory(path, cwd) {
      const at = await locateFrom(files, [path, cwd], (full) => files.resolve(full, 'list'));
      return at.ok ? firstGranted(at, [judgeFolder(at, files, guards.guard)]) : at;
    },
  };
}

type ResolveReal = (path: string) => Promise<ResolvedPath>;

/** The shell follows a link before it goes up from it, a text does not: such a path is refused instead of guessed at. */
async function locateFrom(
  files: Files,
  [path, cwd]: [string, string],
  resolveReal: ResolveReal,
): Promise<ResolvedPath> {
  if (/(?:^|\/)(?!\.\.?(?:\/|$))[^/]+\/+(?:\.\/+)*\.\.(?:\/|$)/.test(path)) {
    return { ok: false, reason: `${path}: write the path without ".." behind a name` };
  }
  return locate(files, path.startsWith('/') || cwd === '' ? path : `${cwd}/${path}`, resolveReal);
}

function firstGranted(at: { real: string }, verdicts: readonly FileVerdict[]): PathVerdict {
  if (verdicts.some((verdict) => verdict.ok)) return { ok: true, resolved: at.real };
  return { ok: false, reason: verdicts.flatMap((verdict) => (verdict.ok ? [] : [verdict.reason])).join('; ') };
}
