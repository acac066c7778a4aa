import { lookAtAwk } from './awk.ts';
import { findEntry, programName } from './danger-table.ts';
import type { ProgramEntry } from './danger-types.ts';
import { lookAtFind } from './find.ts';
import { lookAtGit } from './git.ts';
import type { Arg, Finding, Inspection, Wrapped } from './judgement.ts';
import { lookAtLauncher, lookAtXargs } from './launchers.ts';
import type { OptionScan } from './options.ts';
import { judgeSubcommand, leadingGlobs, scanOptions } from './options.ts';
import { guardFinding, isDevice, readFinding, staysInside, writeFinding } from './paths.ts';
import { lookAtJq, lookAtPrintf, lookAtTest } from './programs.ts';
import { lookAtRunner } from './runners.ts';
import { lookAtSed } from './sed.ts';
import { lookAtShell } from './shells.ts';

type Look = (
  args: readonly Arg[],
  entry: ProgramEntry,
  inspectOther: (args: readonly Arg[]) => Inspection,
) => Inspection;

const LOOKS: Readonly<Record<NonNullable<ProgramEntry['look']>, Look>> = {
  git: lookAtGit,
  find: lookAtFind,
  sed: lookAtSed,
  jq: lookAtJq,
  awk: lookAtAwk,
  shell: lookAtShell,
  test: lookAtTest,
  printf: lookAtPrintf,
  runner: lookAtRunner,
  xargs: lookAtXargs,
};

/** Everything in an argument list that a trailing star would not admit, and the commands it would run. */
export function inspect(args: readonly Arg[]): Inspection {
  const program = args[0]?.text ?? '';
  const entry = findEntry(program);
  if (entry === undefined) return { findings: [], wrapped: [], launches: false };
  const dashed = args.flatMap((arg, index) =>
    entry.glob_safe !== true && isDashedGlob(arg)
      ? [{ index, reason: `${arg.text}: a glob may not build an option` }]
      : [],
  );
  const base = entry.look === undefined ? lookAtTable(args, entry) : LOOKS[entry.look](args, entry, inspect);
  const dropped = entry.strips_dashes === true ? base.wrapped.flatMap((list) => withoutDashes(list)) : [];
  return {
    ...base,
    findings: [...dashed, ...base.findings, ...dropped],
    launches: base.launches || entry.opaque === true,
  };
}

/** What the wrapped program would do with the arguments behind `--` if it never saw the `--`. */
function withoutDashes(list: Wrapped): readonly Finding[] {
  const at = list.args.findIndex((arg) => arg.text === '--');
  const program = list.args[0];
  if (at < 1 || program === undefined) return [];
  const { findings } = inspect([program, ...list.args.slice(at + 1)]);
  return findings.map((finding) => ({ ...finding, index: finding.index + list.index + at }));
}

/** A glob in an option's name; behind an equals sign it is only a value. */
function isDashedGlob(arg: Arg): boolean {
  return arg.kind === 'glob' && /^-[^=]*[*?[]/.test(arg.text);
}

function lookAtTable(args: readonly Arg[], entry: ProgramEntry): Inspection {
  const program = programName(args[0]?.text ?? '');
  if (entry.launcher !== undefined) return lookAtLauncher(args, entry);
  const scan = scanOptions(args, 1, program, entry);
  const findings: Finding[] = [
    ...scan.findings,
    ...wholeList(args, program, entry),
    ...judgeOperands(scan, program, entry),
    ...judgeCode(args, scan, entry),
    ...(entry.glob_safe === true ? [] : leadingGlobs(args, scan.end)),
  ];
  return { findings, wrapped: moduleList(args, entry), launches: false };
}

function moduleList(args: readonly Arg[], entry: ProgramEntry): readonly Wrapped[] {
  if (entry.module_option === undefined) return [];
  const index = args.findIndex((arg) => arg.text === entry.module_option) + 1;
  return index === 0 || index >= args.length ? [] : [{ index, args: args.slice(index) }];
}

function wholeList(args: readonly Arg[], program: string, entry: ProgramEntry): readonly Finding[] {
  const why = entry.why ?? 'it is limited';
  const found: Finding[] = [];
  const only = entry.only?.map((source) => new RegExp(source));
  for (const [index, arg] of args.entries()) {
    if (index === 0) continue;
    const refused =
      entry.all === true || (entry.named === true && index === 1) || (only !== undefined && !isAmong(arg, only));
    if (refused) found.push({ index, reason: `${program} ${arg.text}: not admitted by a star, because ${why}` });
  }
  // A list without arguments would not be seen above; `vim` alone is as bad as `vim x`.
  if (args.length === 1 && (entry.all === true || entry.named === true)) {
    found.push({ index: 1, reason: `${program}: not admitted by a star, because ${why}` });
  }
  if (entry.needs !== undefined && !args.some((arg) => new RegExp(entry.needs ?? '').test(arg.text))) {
    found.push({ index: args.length, reason: `${program}: ${why}` });
  }
  if (entry.subcommands !== undefined)
    found.push(...judgeSubcommand(args, program, entry.subcommands, firstOperand(args)));
  return found;
}

function firstOperand(args: readonly Arg[]): number {
  return args.findIndex((arg, index) => index > 0 && !arg.text.startsWith('-'));
}

function isAmong(arg: Arg, only: readonly RegExp[]): boolean {
  if (arg.kind === 'leading_glob' || !staysInside(arg.text)) return false;
  return only.some((expression) => expression.test(arg.text));
}

function judgeOperands(scan: OptionScan, program: string, entry: ProgramEntry): readonly Finding[] {
  const hasPattern = entry.pattern_options?.some((option) => scan.names.has(option)) ?? false;
  const skip = hasPattern ? 0 : (entry.first_path ?? 0);
  return scan.operands.slice(skip).flatMap(({ index, arg }, place): readonly Finding[] => {
    if (entry.write_from !== undefined && (place >= entry.write_from || arg.kind !== 'literal')) {
      return present(writeFinding(arg, index, program));
    }
    if (entry.operand_pattern !== undefined && !new RegExp(entry.operand_pattern).test(arg.text)) {
      return [{ index, reason: `${program} ${arg.text}: a star does not admit this operand` }];
    }
    if (entry.operands === 'read') return present(readFinding(arg, index, program));
    if (entry.operands === 'write') return present(writeFinding(arg, index, program));
    if (entry.operands === 'guarded') return present(guardFinding(arg, index, program));
    return [];
  });
}

function present(finding: Finding | undefined): readonly Finding[] {
  return finding === undefined ? [] : [finding];
}

/** Interpreters: the script must be a file of the workspace, and there must be one. */
function judgeCode(args: readonly Arg[], scan: OptionScan, entry: ProgramEntry): readonly Finding[] {
  if (entry.operands !== 'script' && entry.bare === undefined) return [];
  const first = scan.operands[0];
  if (first === undefined) {
    const isInfo = entry.info?.some((option) => scan.names.has(option)) ?? false;
    return isInfo || entry.bare === undefined
      ? []
      : [{ index: args.length, reason: `${args[0]?.text ?? ''}: ${entry.bare}` }];
  }
  if (entry.operands !== 'script') return [];
  const { index, arg } = first;
  const reason = `${arg.text}: the script must be named, as a path inside the workspace`;
  if (arg.kind !== 'literal' || isDevice(arg.text)) return [{ index, reason }];
  return staysInside(arg.text) ? [] : [{ index, reason, checks: [{ access: 'read', path: arg.text }] }];
}
