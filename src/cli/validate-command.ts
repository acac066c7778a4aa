// `agent-run validate TASK...` and --dry-run: everything a run would check, and no request.

import { collect } from '../batch/collect.ts';
import { expandTasks } from '../batch/expand.ts';
import type { LoadTask } from '../batch/items.ts';
import { mergeBatchOptions } from '../config/batch-options.ts';
import { mergeOptions, type RunOptions } from '../config/merge.ts';
import type { RunConfig } from '../core/config.ts';
import { UsageError, usageOutcome } from '../core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { jsonLine, logLines } from '../core/sanitise.ts';
import { nextCommand, shellWord } from '../run/next-command.ts';
import { plan } from '../run/plan.ts';
import type { Invocation } from './invocation.ts';
import { isBatch } from './is-batch.ts';
import { printEnding } from './failure.ts';
import { loadTask } from './load-task.ts';
import type { World } from './world.ts';

interface Verdict {
  file: string;
  valid: boolean;
  message?: string;
  plan?: JsonObject;
}

/** Checks each task and prints its plan; 0 when all are valid, else 2 with a message for each that is not. */
export async function validateCommand(invocation: Invocation, world: World): Promise<number> {
  const { positionals, flags } = invocation;
  if (positionals.length === 0) throw new UsageError('no task given; expected one or more task files');
  const options = mergeOptions(flags, world.env);
  const verdicts: Verdict[] = [];
  const asBatch = invocation.command === 'run' && isBatch(invocation, world.cwd);
  const all = asBatch ? judgeBatch(invocation, options, world) : judgeFiles(positionals, options, world);
  for await (const verdict of all) {
    verdicts.push(verdict);
    if (options.format === 'text') world.stdout.write(verdictText(verdict));
  }
  if (options.format !== 'text') world.stdout.write(`${jsonLine(verdicts.length === 1 ? verdicts[0] : verdicts)}\n`);
  return verdicts.every(({ valid }) => valid) ? 0 : 2;
}

/** Files and what globs match, one by one: they need not be fit for one batch. */
async function* judgeFiles(words: readonly string[], options: RunOptions, world: World): AsyncGenerator<Verdict> {
  const { files, problems } = await expandTasks(words, world.cwd);
  for (const message of problems) yield problem(message, world);
  for (const file of files) yield await judge({ file, load: () => loadTask(file, options, world) }, world);
}

/** All that a batch would run: globs, rows, and only this shard. */
async function* judgeBatch(
  { positionals, flags }: Invocation,
  options: RunOptions,
  world: World,
): AsyncGenerator<Verdict> {
  const { env, cwd } = world;
  const batch = mergeBatchOptions(flags, env);
  const load: LoadTask = (file, own) => loadTask(file, own, world);
  const { items, problems } = await collect({ words: positionals, options, batch, env, cwd, load });
  for (const message of problems) yield problem(message, world);
  for (const item of items) {
    const file = batch.rows === undefined ? item.file : item.name;
    if ('mistake' in item) yield refused(item.file, item.mistake, world);
    else yield await judge({ file, load: async () => item.config }, world);
  }
}

async function judge({ file, load }: { file: string; load: () => Promise<RunConfig> }, world: World): Promise<Verdict> {
  try {
    const config = await load();
    const report = await plan({ config, env: world.env, cwd: world.cwd });
    return { file, valid: true, plan: { ...report } as unknown as JsonObject }; // a report holds nothing but JSON values
  } catch (error) {
    // UsageError: a mistake in this task; the others are still worth checking.
    if (!(error instanceof UsageError)) throw error;
    return refused(file, error, world);
  }
}

/** What belongs to no task. */
function problem(message: string, world: World): Verdict {
  const outcome = usageOutcome(new UsageError(message));
  printEnding(world, outcome, { message, next: 'mend that, then the same command' });
  return { file: 'TASK', valid: false, message };
}

function refused(file: string, error: UsageError, world: World): Verdict {
  const outcome = usageOutcome(error);
  const validate = `agent-run validate ${shellWord(file)}`;
  const next = error.next ? nextCommand(outcome, { task_file: file }) : validate;
  printEnding(world, outcome, { message: error.message, next });
  return { file, valid: false, message: error.message };
}

function verdictText({ file, valid, plan: report }: Verdict): string {
  if (!valid) return '';
  const lines = [`${file}: valid`, ...(report ? planLines(report, '  ') : [])];
  return `${lines.flatMap(logLines).join('\n')}\n`;
}

/** An object as indented lines: every value of the plan is shown, whatever the plan holds. */
function planLines(value: JsonObject, indent: string): string[] {
  return Object.entries(value).flatMap(([key, item]) => {
    if (isJsonObject(item) && Object.keys(item).length > 0)
      return [`${indent}${key}:`, ...planLines(item, `${indent}  `)];
    return [`${indent}${key}: ${shown(item)}`];
  });
}

function shown(value: JsonValue): string {
  if (Array.isArray(value) && value.length > 0) return value.map((item) => shown(item)).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
