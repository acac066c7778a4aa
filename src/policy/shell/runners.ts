import { programName } from './danger-table.ts';
import type { ProgramEntry } from './danger-types.ts';
import type { Arg, Finding, Inspection } from './judgement.ts';
import { literal } from './judgement.ts';
import { judgeSubcommand, leadingGlobs, scanOptions } from './options.ts';

// Scripts behind `npm test --` are not known; the union of the test runners' and linters' dangers stands for them.
const STAND_INS = ['jest', 'eslint', 'pytest'] as const;

type Inspect = (args: readonly Arg[]) => Inspection;

/** npm, pnpm and yarn: options that name programs or configuration, before and behind `--`. */
export function lookAtRunner(args: readonly Arg[], entry: ProgramEntry, inspect: Inspect): Inspection {
  const program = programName(args[0]?.text ?? '');
  const scan = scanOptions(args, 1, program, entry);
  const at = scan.operands[0]?.index ?? -1;
  const findings: Finding[] = [
    ...scan.findings,
    ...judgeSubcommand(args, program, entry.subcommands ?? [], at),
    ...leadingGlobs(args, undefined),
  ];
  if (at < 0) return { findings, wrapped: [], launches: true };
  const isLauncher = entry.launcher_words?.includes(args[at]?.text ?? '') === true;
  const list = args.slice(at + 1);
  if (isLauncher && list.length > 0) {
    const program = list[0];
    if (program?.kind !== 'literal' || program.text.startsWith('-'))
      findings.push({ index: at + 1, reason: 'the program to run must come first' });
    return { findings, wrapped: [{ index: at + 1, args: list }], launches: true };
  }
  // pnpm and yarn hand options on without `--`, so what a runner would do with them counts from the script's name on.
  findings.push(...handedOnFindings(args, (program === 'npm' ? (scan.end ?? args.length) : at) + 1, inspect));
  return { findings, wrapped: [], launches: true };
}

function handedOnFindings(args: readonly Arg[], start: number, inspect: Inspect): readonly Finding[] {
  const rest = args.slice(start).filter((arg) => arg.text !== '--');
  const offset = start + (args.length - start - rest.length);
  if (rest.length === 0) return [];
  return STAND_INS.flatMap((runner) =>
    inspect([literal(runner), ...rest]).findings.map((finding) => ({
      index: finding.index - 1 + offset,
      reason: `handed on to a script: ${finding.reason}`,
    })),
  );
}
