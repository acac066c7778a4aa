// Endings without a run: the caller's mistake on one line without a stack, a bug with its stack. stdout stays parsable.

import { buildLimits } from '../config/limits.ts';
import { mergeOptions } from '../config/merge.ts';
import { BATCH_OPTIONS, FORMATS, type Format, variableOf } from '../config/options.ts';
import { errorText, UsageError, usageOutcome } from '../core/errors.ts';
import { isLiteral } from '../core/globs.ts';
import { exitCode, type RunOutcome } from '../core/outcome.ts';
import { jsonLine, logLines } from '../core/sanitise.ts';
import { nextCommand, shellWord } from '../run/next-command.ts';
import { ALL_OPTIONS, isCommand } from './commands.ts';
import type { World } from './world.ts';

export interface Asked {
  argv: readonly string[];
  world: World;
}

/** Says what went wrong on stderr, and on stdout and in `--out` what a program looks for there; the exit code. */
export async function reportFailure(error: unknown, asked: Asked): Promise<number> {
  const { argv, world } = asked;
  const outcome = outcomeOf(error);
  if (outcome.reason === 'internal_error' && error instanceof Error) printLines(world, error.stack ?? '');
  const message = 'detail' in outcome ? outcome.detail : '';
  printEnding(world, outcome, { message, next: nextOf(outcome, argv) });
  const format = FORMATS.find((item) => item === wanted('format', asked)) ?? 'text';
  const out = startsRun(argv) ? wanted('out', asked) : undefined;
  if (format === 'text' && out === undefined) return exitCode(outcome);
  const left = { outcome, message: message.replaceAll('\n', '; '), format, out };
  await (looksLikeBatch(argv) && exitCode(outcome) === 2 ? leaveReport(left, asked) : leaveResult(left, asked));
  return exitCode(outcome);
}

function outcomeOf(error: unknown): RunOutcome {
  if (error instanceof UsageError) return usageOutcome(error);
  return { reason: 'internal_error', detail: errorText(error) };
}

/** The last line of an ending that is not success; what a message says on further lines stands before it. */
export function printEnding(
  world: World,
  outcome: RunOutcome,
  { message, next, spent = 'nothing' }: { message: string; next: string | null; spent?: string },
): void {
  const [first = '', ...others] = message.split('\n');
  printLines(world, others.length > 0 ? message : '');
  const cause = others.length > 0 ? `${others.length + 1} problems, the first: ${first}` : first;
  const parts = [`agent-run: ${outcome.reason} (exit ${exitCode(outcome)}): ${cause}`, `spent ${spent}`];
  printLines(world, [...parts, ...(next === null ? [] : [`next: ${next}`])].join(' | '));
}

/** Lines of stderr that nothing in them can turn into a command of the CI or of the terminal. */
export function printLines(world: World, text: string): void {
  for (const line of logLines(text)) if (line !== '') world.stderr.write(`${line}\n`);
}

function nextOf(outcome: RunOutcome, argv: readonly string[]): string | null {
  const [first] = argv;
  if (outcome.reason === 'internal_error') return null;
  if (isCommand(first) && first !== 'run') return `agent-run ${first} --help`;
  const file = taskOf(argv);
  if (file === '') return 'agent-run --help';
  const words = (first === 'run' ? argv.slice(1) : argv).map(shellWord).join(' ');
  return nextCommand(outcome, { task_file: file, words });
}

function taskOf(argv: readonly string[]): string {
  return wordsOf(argv)[0] ?? '';
}

function wordsOf(argv: readonly string[]): string[] {
  const isValue = (index: number): boolean => {
    const [, name = ''] = /^--([^=]+)$/.exec(argv[index - 1] ?? '') ?? [];
    return ALL_OPTIONS[name] !== undefined && ALL_OPTIONS[name].kind !== 'switch';
  };
  return argv.filter((word, index) => !/^-./.test(word) && !isCommand(word) && !isValue(index));
}

/** As far as a broken command line tells. */
function looksLikeBatch(argv: readonly string[]): boolean {
  const words = wordsOf(argv);
  const option = Object.keys(BATCH_OPTIONS).some((name) => argv.some((word) => word.split('=')[0] === `--${name}`));
  return startsRun(argv) && (option || words.length > 1 || words.some((word) => !isLiteral(word)));
}

function startsRun(argv: readonly string[]): boolean {
  return (argv[0] === 'run' || !isCommand(argv[0])) && !argv.includes('--dry-run');
}

/** The value of an option, also when the rest of the command line is broken. */
function wanted(name: 'format' | 'out' | 'shard', { argv, world }: Asked): string | undefined {
  const at = argv.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const [, word = argv[at + 1]] = /^[^=]+=(.*)$/s.exec(argv[at] ?? '') ?? [];
  return (at >= 0 ? word : world.env[variableOf(name)]) || undefined;
}

interface Left {
  outcome: RunOutcome;
  message: string;
  format: Format;
  out: string | undefined;
}

/** A reader of stdout gets what it can parse, and a reader of the folder no earlier success. */
async function leaveResult({ outcome, message, format, out }: Left, { argv, world }: Asked): Promise<void> {
  const { recordUnstarted, unstartedResult } = await import('../run/unstarted.ts');
  const limits = buildLimits({}, mergeOptions({}, {}));
  const result = unstartedResult({ outcome, message, task_file: taskOf(argv), limits });
  if (format === 'json') world.stdout.write(`${jsonLine(result)}\n`);
  if (format === 'stream-json') {
    const { run_id, exit_code, finished_at: time } = result;
    world.stdout.write(`${jsonLine({ type: 'run_end', seq: 1, time, run_id, outcome, exit_code, message })}\n`);
  }
  try {
    if (out !== undefined) recordUnstarted(result, { out, cwd: world.cwd });
  } catch {
    // The folder cannot be written or is not a run's: then there is no place to leave anything, and stderr has said it.
  }
}

/** The same for several runs. */
async function leaveReport({ message, format, out }: Left, asked: Asked): Promise<void> {
  const { cwd, stdout } = asked.world;
  const { recordRefused, refusedReport } = await import('../batch/refused.ts');
  const report = refusedReport(message);
  if (format === 'json') stdout.write(`${jsonLine(report)}\n`);
  if (format === 'stream-json') stdout.write(`${jsonLine({ type: 'batch_end', report })}\n`);
  if (out !== undefined) recordRefused(report, { out, cwd, shard: wanted('shard', asked) });
}
