// `agent-run validate TASK...` and --dry-run: everything a run would check, and no request.

import { mergeOptions, type RunOptions } from '../config/merge.ts';
import { UsageError, usageOutcome } from '../core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { jsonLine, logLines } from '../core/sanitise.ts';
import { nextCommand, shellWord } from '../run/next-command.ts';
import { plan } from '../run/plan.ts';
import type { Invocation } from './invocation.ts';
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
export async function validateCommand({ positionals, flags }: Invocation, world: World): Promise<number> {
  if (positionals.length === 0) throw new UsageError('no task given; expected one or more task files');
  const options = mergeOptions(flags, world.env);
  const verdicts: Verdict[] = [];
  for (const file of positionals) {
    const verdict = await judge(file, options, world);
    verdicts.push(verdict);
    if (options.format === 'text') world.stdout.write(verdictText(verdict));
  }
  if (options.format !== 'text') world.stdout.write(`${jsonLine(verdicts.length === 1 ? verdicts[0] : verdicts)}\n`);
  return verdicts.every(({ valid }) => valid) ? 0 : 2;
}

async function judge(file: string, options: RunOptions, world: World): Promise<Verdict> {
  try {
    const config = await loadTask(file, options, world);
    const report = await plan({ config, env: world.env, cwd: world.cwd });
    return { file, valid: true, plan: { ...report } as unknown as JsonObject }; // a report holds nothing but JSON values
  } catch (error) {
    // UsageError: a mistake in this task; the others are still worth checking.
    if (!(error instanceof UsageError)) throw error;
    printEnding(world, usageOutcome(error), {
      message: error.message,
      next: error.next
        ? nextCommand(usageOutcome(error), { task_file: file })
        : `agent-run validate ${shellWord(file)}`,
    });
    return { file, valid: false, message: error.message };
  }
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
