import gitTable from '../danger-git.json' with { type: 'json' };
import { lookAtGitConfig } from './git-config.ts';
import type { Arg, Finding, Inspection } from './judgement.ts';
import type { OptionScan } from './options.ts';
import { leadingGlobs, scanOptions } from './options.ts';
import { readFinding } from './paths.ts';

interface Subcommand {
  readonly reads?: boolean;
  readonly runs?: readonly string[];
  readonly writes?: readonly string[];
  readonly config?: readonly string[];
  readonly outside?: readonly string[];
  readonly read_path?: readonly string[];
  readonly safe?: readonly string[];
  readonly value_shorts?: string;
  readonly value_longs?: readonly string[];
  readonly remote?: boolean;
  /** `git *` does not admit it, `git apply *` does. */
  readonly named?: string;
  readonly only?: readonly string[];
  readonly needs?: string;
  readonly why?: string;
  readonly look?: string;
}

// The shape of the file is checked by a test.
const SUBCOMMANDS = new Map<string, Subcommand>(Object.entries(gitTable.subcommands));
const COMMON = gitTable.common;
const REMOTE_NAME = /^[A-Za-z0-9_][\w-]*$/;

/** The place of the sub-command behind the global options, which may be the length of the list. */
export function gitSubcommandIndex(args: readonly Arg[]): number {
  let index = 1;
  while (args[index]?.text.startsWith('-') === true)
    index += gitTable.global_values.includes(args[index]?.text ?? '') ? 2 : 1;
  return index;
}

/** Whether a git sub-command is known to only read. */
export function isReadingGit(args: readonly Arg[]): boolean {
  return SUBCOMMANDS.get(args[gitSubcommandIndex(args)]?.text ?? '')?.reads === true;
}

/** The names of all sub-commands that a star can admit. */
export function gitSubcommands(): readonly string[] {
  return [...SUBCOMMANDS.keys()];
}

/** `git`: global options, unknown sub-commands, and what each known one can run, write, read or change. */
export function lookAtGit(args: readonly Arg[]): Inspection {
  const at = gitSubcommandIndex(args);
  const sub = args[at];
  const findings: Finding[] = globalOptions(args, at);
  if (sub === undefined) return { findings, wrapped: [], launches: false };
  const known = sub.kind === 'literal' ? SUBCOMMANDS.get(sub.text) : undefined;
  if (known === undefined) {
    // Nothing is known about what its arguments do, so only an exact rule can admit it.
    const reason = `git ${sub.text}: a star does not admit this sub-command; write the whole command as a rule`;
    findings.push(...args.slice(at).map((_, offset) => ({ index: at + offset, reason })), {
      index: args.length,
      reason,
    });
  }
  if (known?.named !== undefined)
    findings.push({ index: at, reason: `git ${sub.text} ${known.named}; name it in a rule` });
  if (known?.look === 'config')
    return { findings: [...findings, ...lookAtGitConfig(args, at)], wrapped: [], launches: false };
  const entry = known ?? {};
  const scan = scanOptions(args, at + 1, `git ${sub.text}`, merged(entry));
  findings.push(
    ...scan.findings,
    ...restrictions(args, at, entry),
    ...leadingGlobs(args, scan.end),
    ...operandPaths(args, at),
  );
  if (entry.remote === true) findings.push(...remoteOperands(args, scan, sub.text));
  return { findings, wrapped: [], launches: false };
}

function globalOptions(args: readonly Arg[], end: number): Finding[] {
  return args
    .slice(0, end)
    .flatMap((arg, index) =>
      index > 0 && !gitTable.global_flags.includes(arg.text)
        ? [{ index, reason: `git ${arg.text}: a star does not admit this global option` }]
        : [],
    );
}

type Spec = Parameters<typeof scanOptions>[3];

const merged = (entry: Subcommand): Spec => ({
  runs: [...COMMON.runs, ...(entry.runs ?? [])],
  writes: [...COMMON.writes, ...(entry.writes ?? [])],
  config: [...COMMON.config, ...(entry.config ?? [])],
  outside: [...COMMON.outside, ...(entry.outside ?? [])],
  read_path: [...COMMON.read_path.filter((name) => name.startsWith('--')), ...(entry.read_path ?? [])],
  safe: [...COMMON.safe, ...(entry.safe ?? [])],
  flags: gitTable.flags,
  ...(entry.value_shorts === undefined ? {} : { value_shorts: entry.value_shorts }),
  ...(entry.value_longs === undefined ? {} : { value_longs: entry.value_longs }),
  doubt_unknown: true,
});

function restrictions(args: readonly Arg[], at: number, entry: Subcommand): readonly Finding[] {
  const why = entry.why ?? 'is limited';
  if (entry.needs !== undefined && !args.some((arg) => arg.text === entry.needs)) {
    return [{ index: args.length, reason: `git ${args[at]?.text ?? ''} ${why}` }];
  }
  const first = args[at + 1];
  if (entry.only === undefined || first === undefined || entry.only.includes(first.text)) return [];
  return [{ index: at + 1, reason: `git ${args[at]?.text ?? ''} ${first.text} ${why}` }];
}

/** Paths that leave the work tree: with two of them even a plain `git diff` compares files outside the repository. */
function operandPaths(args: readonly Arg[], at: number): readonly Finding[] {
  return args.flatMap((arg, index) => {
    if (index <= at || (arg.text.startsWith('-') && arg.text !== '-')) return [];
    const finding = readFinding(arg, index, `git ${args[at]?.text ?? ''}`);
    const isText = finding !== undefined && isTextValue(args[index - 1]?.text ?? '');
    return finding === undefined || isText ? [] : [finding];
  });
}

/** Whether an option's separate value is a text or a pattern, so that a slash in it means nothing. */
function isTextValue(option: string): boolean {
  return /^(?:-m|-S|-G|-e|-L|--(?:message|grep|author|committer|since|until|after|before|format|pretty|date|trailer))$/.test(
    option,
  );
}

function remoteOperands(args: readonly Arg[], scan: OptionScan, name: string): readonly Finding[] {
  const first = scan.operands[0];
  const found: Finding[] = scan.operands.flatMap(({ index, arg }) =>
    /:\/\/|::|^[\w.-]+@[\w.-]+:/.test(arg.text)
      ? [{ index, reason: `git ${name} ${arg.text}: only a configured remote, not an address` }]
      : [],
  );
  if (first !== undefined && (first.arg.kind !== 'literal' || !REMOTE_NAME.test(first.arg.text))) {
    found.push({ index: first.index, reason: `git ${name} ${first.arg.text}: only the name of a configured remote` });
  }
  // A signed option with a value may shift which operand is the remote; an unknown one is refused for that reason.
  const unknown = args.findIndex(
    (arg, index) => index > 1 && /^--[a-z-]+$/.test(arg.text) && !isKnownRemoteOption(arg.text, name),
  );
  if (unknown >= 0)
    found.push({ index: unknown, reason: `git ${name} ${args[unknown]?.text ?? ''}: this option is not understood` });
  return found;
}

const REMOTE_FLAGS =
  /^--(?:no-)?(?:all|tags|force|dry-run|prune|quiet|verbose|progress|atomic|verify|follow-tags|thin|porcelain|set-upstream|delete|mirror|force-with-lease|force-if-includes|rebase|ff|ff-only|squash|commit|stat|autostash|allow-unrelated-histories|unshallow|update-shallow|recurse-submodules|heads|refs|symref|exit-code|get-url|append|keep|prune-tags|signed|update-head-ok|show-forced-updates|ipv4|ipv6|branches|signoff|log|edit)$/;

function isKnownRemoteOption(text: string, name: string): boolean {
  return REMOTE_FLAGS.test(text) || (SUBCOMMANDS.get(name)?.value_longs?.includes(text) ?? false);
}

/** Options that keep helpers of the repository off; the output of log, diff and show stays the same without them. */
export const HARDENING = ['--no-ext-diff', '--no-textconv'] as const;

/** The place for those options in the arguments of log, diff or show; none for other sub-commands. */
export function hardenedPlace(args: readonly Arg[]): number[] {
  const at = gitSubcommandIndex(args);
  return /^(?:log|diff|show)$/.test(args[at]?.text ?? '') ? [at + 1] : [];
}
