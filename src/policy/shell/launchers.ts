import { programName } from './danger-table.ts';
import type { LauncherEntry, ProgramEntry } from './danger-types.ts';
import type { Arg, Finding, Inspection } from './judgement.ts';
import { scanOptions } from './options.ts';

/** Finds the list that a launcher such as `timeout 60 npm test` runs; what is not understood is refused. */
export function lookAtLauncher(args: readonly Arg[], entry: ProgramEntry): Inspection {
  const program = programName(args[0]?.text ?? '');
  const spec = entry.launcher ?? {};
  const findings: Finding[] = [];
  let index = 1;
  while (index < args.length && isOption(args[index])) {
    const text = args[index]?.text ?? '';
    if (text === '--') {
      index += 1;
      break;
    }
    if (program === 'command' && (text === '-v' || text === '-V')) return { findings, wrapped: [], launches: true };
    const width = optionWidth(text, spec);
    if (width === 0) findings.push({ index, reason: `${program} ${text}: this option is not understood` });
    index += Math.max(width, 1);
  }
  index += spec.skip ?? 0;
  findings.push(...globsBefore(args, index));
  const wrapped = args.slice(index);
  if (wrapped.length === 0) return { findings: [...findings, nothing(args, program)], wrapped: [], launches: true };
  const first = wrapped[0];
  if (first?.kind !== 'literal' || /^[A-Za-z_]\w*\+?=/.test(first.text)) {
    return {
      findings: [...findings, { index, reason: `${first?.text ?? ''}: ${program} may not set variables` }],
      wrapped: [],
      launches: true,
    };
  }
  return { findings, wrapped: [{ index, args: wrapped }], launches: true };
}

/** A glob among the launcher's own arguments may become several words, and one of them the program. */
function globsBefore(args: readonly Arg[], end: number): readonly Finding[] {
  return args
    .slice(0, end)
    .flatMap((arg, index) =>
      arg.kind === 'glob' || arg.kind === 'leading_glob'
        ? [{ index, reason: `${arg.text}: a glob before the program` }]
        : [],
    );
}

function isOption(arg: Arg | undefined): boolean {
  return arg !== undefined && arg.text.startsWith('-') && arg.text !== '-';
}

function nothing(args: readonly Arg[], program: string): Finding {
  return { index: args.length, reason: `${program} runs no command here; alone it shows or changes the environment` };
}

/** How many arguments an option takes up; 0 if it is unknown. */
function optionWidth(text: string, spec: LauncherEntry): number {
  if (spec.flags?.includes(text)) return 1;
  if (spec.values?.includes(text)) return 2;
  const hasAttached = spec.values?.some((option) =>
    option.startsWith('--') ? text.startsWith(`${option}=`) : !text.startsWith('--') && text.startsWith(option),
  );
  if (hasAttached === true) return 1;
  return spec.values?.includes('-n') === true && /^-\d+$/.test(text) ? 1 : 0;
}

const XARGS = {
  value_shorts: 'adEILnPs',
  value_longs: [
    '--arg-file',
    '--delimiter',
    '--max-lines',
    '--max-args',
    '--max-procs',
    '--max-chars',
    '--process-slot-var',
  ],
  read_path: ['-a', '--arg-file'],
} as const;
const XARGS_FLAG =
  /^-[0rtx]+$|^--(?:null|no-run-if-empty|verbose|exit|max-(?:lines|args|procs|chars)=\d+)$|^-[LnPs]\d+$/;
const XARGS_VALUE = /^(?:-[dLnPs]|--(?:delimiter|max-args|max-procs|max-lines|max-chars))$/;

/** `xargs`: the wrapped list, followed by words that only its input knows. */
export function lookAtXargs(args: readonly Arg[]): Inspection {
  const findings: Finding[] = [];
  let replace: string | undefined;
  let index = 1;
  while (index < args.length && isOption(args[index])) {
    const text = args[index]?.text ?? '';
    if (text === '--') {
      index += 1;
      break;
    }
    if (text === '-I') replace = args[index + 1]?.text;
    else if (text.startsWith('-I')) replace = text.slice(2);
    else if (!XARGS_FLAG.test(text) && !XARGS_VALUE.test(text) && !/^-d.+$/.test(text)) {
      findings.push(
        ...scanOptions(args.slice(0, index + 1), index, 'xargs', XARGS).findings,
        unknownOption(index, text),
      );
    }
    index += text === '-I' || XARGS_VALUE.test(text) ? 2 : 1;
  }
  findings.push(...globsBefore(args, index));
  const own = args.slice(index);
  if (own.length === 0) return { findings: [...findings, nothing(args, 'xargs')], wrapped: [], launches: true };
  const wrapped = replace === undefined ? [...own, unknownWord('*')] : own.map((arg) => replaced(arg, replace));
  if (wrapped[0]?.kind !== 'literal') findings.push({ index, reason: 'xargs: the program comes from its input' });
  return { findings, wrapped: [{ index, args: wrapped }], launches: true };
}

function unknownOption(index: number, text: string): Finding {
  return { index, reason: `xargs ${text}: this option is not understood` };
}

function unknownWord(text: string): Arg {
  return { text, kind: 'leading_glob' };
}

/** A word that holds the replacement mark becomes unknown; where the mark stands first it may become an option. */
function replaced(arg: Arg, mark: string | undefined): Arg {
  if (mark === undefined || mark === '' || !arg.text.includes(mark)) return arg;
  return { text: arg.text.replaceAll(mark, '*'), kind: arg.text.startsWith(mark) ? 'leading_glob' : 'glob' };
}
