import type { ProgramEntry } from './danger-types.ts';
import type { Arg, Finding } from './judgement.ts';
import { isDevice, readFinding, writeFinding } from './paths.ts';

/** An argument that is no option. */
export interface Operand {
  readonly index: number;
  readonly arg: Arg;
}

/** What a look at a program's options gives; `names` are the options seen, `end` is the place of a sure `--`. */
export interface OptionScan {
  readonly findings: readonly Finding[];
  readonly operands: readonly Operand[];
  readonly names: ReadonlySet<string>;
  readonly end: number | undefined;
}

type OptionSpec = Omit<ProgramEntry, 'names'> & {
  /** Any option that is not among `flags` may take the next argument as its value. */
  readonly doubt_unknown?: boolean;
};

interface Given {
  readonly name: string;
  readonly attached: string | undefined;
}

const EFFECTS = {
  runs: 'can run a program',
  writes: 'writes files',
  config: 'changes the configuration',
  outside: 'reaches outside the workspace',
  sends: 'sends data',
} as const;

/** Walks the arguments from `start`, finding dangerous options however they are spelled, and the operands. */
export function scanOptions(args: readonly Arg[], start: number, program: string, spec: OptionSpec): OptionScan {
  const findings: Finding[] = [];
  const operands: Operand[] = [];
  const names = new Set<string>();
  let end: number | undefined;
  let doubted = false;
  let takesValue = false;
  for (const [index, arg] of args.entries()) {
    if (index < start) continue;
    const isValue: boolean = takesValue;
    takesValue = false;
    if (end !== undefined) {
      operands.push({ index, arg });
      continue;
    }
    if (arg.text === '--' && arg.kind === 'literal') {
      // Behind an option that may take a value, `--` may be that value: then go on looking for options.
      if (!isValue && !mayTakeValue(args[index - 1], index - 1 >= start, spec)) end = index;
      else doubted = true;
      continue;
    }
    const isOption = arg.text.startsWith('-') && arg.text.length > 1;
    if (!isOption) {
      if (!isValue) operands.push({ index, arg });
      if (spec.stop_at_operand && !isValue && !doubted && isSurelyOperand(args[index - 1], index > start, spec)) break;
      continue;
    }
    if (doubted) operands.push({ index, arg });
    for (const given of spellings(arg.text, spec)) {
      names.add(given.name);
      findings.push(...judgeOption(given, { args, index, program, spec }));
    }
    takesValue = !isValue && takesSeparateValue(arg.text, spec);
  }
  return { findings, operands, names, end };
}

interface Place {
  readonly args: readonly Arg[];
  readonly index: number;
  readonly program: string;
  readonly spec: OptionSpec;
}

function judgeOption(given: Given, place: Place): readonly Finding[] {
  const { args, index, program, spec } = place;
  const next = args[index + 1];
  const value = given.attached === undefined ? next : { text: given.attached, kind: args[index]?.kind ?? 'literal' };
  const at = given.attached === undefined && next !== undefined ? index + 1 : index;
  if (isSpelled(given.name, spec.read_path, spec))
    return pathOption(value, at, (arg) => readFinding(arg, at, `${program} ${given.name}`));
  if (isSpelled(given.name, spec.write_path, spec))
    return pathOption(value, at, (arg) => writeFinding(arg, at, `${program} ${given.name}`));
  for (const [effect, sentence] of Object.entries(EFFECTS) as [keyof typeof EFFECTS, string][]) {
    if (!isSpelled(given.name, spec[effect], spec)) continue;
    if (value?.kind === 'literal' && isNamedValue(given.name, value.text, spec)) return [];
    return [{ index, reason: `${program} ${given.name} ${sentence}` }];
  }
  return [];
}

function pathOption(
  value: Arg | undefined,
  index: number,
  find: (arg: Arg) => Finding | undefined,
): readonly Finding[] {
  if (value === undefined) return [{ index, reason: 'the option has no value' }];
  if (isDevice(value.text)) return [];
  const finding = find(value);
  return finding === undefined ? [] : [finding];
}

function isNamedValue(name: string, value: string, spec: OptionSpec): boolean {
  const named = spec.named_values;
  return named !== undefined && named.options.includes(name) && new RegExp(named.pattern).test(value);
}

/** Whether a name is one of the list, or an abbreviation of one that is not itself a harmless option. */
function isSpelled(name: string, list: readonly string[] | undefined, spec: OptionSpec): boolean {
  if (list === undefined || list.includes(name)) return list !== undefined;
  if (spec.single_dash) return name.startsWith('--') && list.includes(name.slice(1));
  if (!name.startsWith('--') || name.length < 3 || spec.safe?.includes(name)) return false;
  // Case and inner dashes do not count: many parsers take --globalSetup, --global-setup and --global_setup alike.
  const given = canonical(name);
  return list.some((option) => {
    const known = canonical(option);
    return option.startsWith('--') && (known.startsWith(given) || given.startsWith(`${known}.`));
  });
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

/** The options that one argument may stand for: a long name, or each letter of a cluster. */
function spellings(text: string, spec: OptionSpec): readonly Given[] {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const attached = equals < 0 ? undefined : text.slice(equals + 1);
  if (text.startsWith('--') || spec.single_dash) return [{ name, attached }];
  // Some programs know whole names behind one dash, and npm's parser drops any number of dashes.
  const found: Given[] = name.length > 2 ? [{ name: spec.any_dashes === true ? `-${name}` : name, attached }] : [];
  for (let place = 1; place < text.length; place += 1) {
    const letter = text[place] ?? '';
    const rest = text.slice(place + 1);
    found.push({ name: `-${letter}`, attached: rest === '' ? undefined : rest });
    if (spec.value_shorts?.includes(letter)) break;
  }
  return found;
}

function takesSeparateValue(text: string, spec: OptionSpec): boolean {
  if (text.startsWith('--') || spec.single_dash) {
    if (text.includes('=')) return false;
    const isLong = spec.value_longs?.some((option) =>
      spec.single_dash ? option === text || `-${option}` === text : option.startsWith(text),
    );
    return (
      isLong === true ||
      (spec.single_dash === true && text.length === 2 && (spec.value_shorts?.includes(text.slice(1)) ?? false))
    );
  }
  const first = text
    .slice(1)
    .split('')
    .findIndex((letter) => spec.value_shorts?.includes(letter));
  return first >= 0 && first === text.length - 2;
}

function isSurelyOperand(previous: Arg | undefined, isArgument: boolean, spec: OptionSpec): boolean {
  if (previous === undefined || !isArgument || !previous.text.startsWith('-')) return true;
  return previous.text.includes('=') || (spec.flags?.includes(previous.text) ?? false);
}

function mayTakeValue(previous: Arg | undefined, isArgument: boolean, spec: OptionSpec): boolean {
  if (previous === undefined || !isArgument) return false;
  if (!previous.text.startsWith('-') || previous.text === '-' || previous.text.includes('=')) return false;
  // Without lists of options that take values nothing is known about this one.
  if (spec.doubt_unknown === true) return spec.flags?.includes(previous.text) !== true;
  if (spec.value_shorts === undefined && spec.value_longs === undefined) return true;
  return takesSeparateValue(previous.text, spec);
}

/** Globs at the start of a word, outside `--`: a file's name could become an option. */
export function leadingGlobs(args: readonly Arg[], end: number | undefined): readonly Finding[] {
  return args.flatMap((arg, index) =>
    arg.kind === 'leading_glob' && (end === undefined || index < end)
      ? [
          {
            index,
            reason: `${arg.text}: a file name could become an option; put -- before it or start it with a folder`,
          },
        ]
      : [],
  );
}

/** The first operand must be a sub-command of the list, unless the rule itself names it. */
export function judgeSubcommand(
  args: readonly Arg[],
  program: string,
  known: readonly string[],
  index: number,
): readonly Finding[] {
  const arg = args[index];
  if (arg === undefined || (arg.kind === 'literal' && known.includes(arg.text))) return [];
  return [{ index, reason: `${program} ${arg.text}: a star does not admit this sub-command; name it in a rule` }];
}
