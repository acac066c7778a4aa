// `agent-run explain TASK -- COMMAND`: what the policy says of a shell command; nothing runs.

import { mergeOptions } from '../config/merge.ts';
import { UsageError } from '../core/errors.ts';
import { EXIT_CODES } from '../core/outcome.ts';
import { jsonLine, logLine } from '../core/sanitise.ts';
import { explainShell } from '../run/explain-command.ts';
import { shellWord } from '../run/next-command.ts';
import type { Invocation } from './invocation.ts';
import { loadTask } from './load-task.ts';
import type { World } from './world.ts';

type Explained = Awaited<ReturnType<typeof explainShell>>;

/** Prints each simple command with its verdict and rule; 0 when all may run, 5 when not. */
export async function explainCommand({ positionals, flags, rest = [] }: Invocation, world: World): Promise<number> {
  const [file] = positionals;
  if (file === undefined || rest.length === 0)
    throw new UsageError('expected a task and a command: agent-run explain TASK -- COMMAND');
  const options = mergeOptions(flags, world.env);
  const config = await loadTask(file, options, world);
  // One word is a shell text; several are an argument list.
  const text = rest.length === 1 ? rest.join('') : rest.map(shellWord).join(' ');
  const judged = await explainShell(config, text, world.cwd);
  world.stdout.write(options.format === 'text' ? explainedText(judged) : `${jsonLine(judged)}\n`);
  return judged.allowed ? EXIT_CODES.completed : EXIT_CODES.denied;
}

function explainedText(judged: Explained): string {
  const lines = judged.commands.map(({ verdict, text, rule, reason }) => {
    const why = rule === undefined ? (reason ?? 'no rule allows it') : `rule "${rule}"${reason ? `: ${reason}` : ''}`;
    return `${verdict.padEnd(5)}  ${text}  (${why})`;
  });
  const suggestion = !judged.allowed && judged.suggestion ? `; a rule that would allow it: "${judged.suggestion}"` : '';
  const verdict = judged.allowed ? `allowed (${judged.effect})` : `denied: ${judged.reason}${suggestion}`;
  return [...lines, verdict].map((line) => `${logLine(line)}\n`).join('');
}
