import { randomUUID } from 'node:crypto';
import { findBadCharacter } from './characters.ts';
import type { JudgedCommand, PathJudge, ShellJudgement } from './judgement.ts';
import { parseShell } from './parse.ts';
import type { ShellRules } from './rules.ts';
import type { Walk } from './walk-state.ts';
import { judgeStatements } from './walk.ts';

/** The longest argument Linux takes is 128 KiB; the script is one. */
const MAX_SCRIPT_BYTES = 120_000;

/** Where judging starts, and where its randomness comes from. */
export interface ShellJudgeOptions {
  /** The folder the script starts in, as handed to the path judge; default `.`. */
  readonly cwd?: string;
  readonly delimiter?: () => string;
}

/** Judges a whole shell text; what may run is the script in the answer, never the text. */
export async function judgeShell(
  text: string,
  rules: ShellRules,
  paths: PathJudge,
  options: ShellJudgeOptions = {},
): Promise<ShellJudgement> {
  const refuse = (reason: string, commands: readonly JudgedCommand[] = []): ShellJudgement => {
    const rule = commands.find((command) => command.verdict === 'deny')?.narrowest_rule;
    return { allowed: false, reason, commands, ...(rule === undefined ? {} : { suggestion: rule }) };
  };
  const bad = findBadCharacter(text);
  if (bad !== undefined) return refuse(`The command was refused: ${bad}.`);
  const script = await parseShell(text);
  if ('refused' in script) return refuse(`The command was refused: ${script.refused}.`);
  const walk: Walk = {
    source: text,
    rules,
    paths,
    delimiter: options.delimiter ?? ((): string => `END_${randomUUID().replaceAll('-', '')}`),
    commands: [],
    refusals: [],
    writes: false,
    depth: 0,
    nested: judgeStatements,
  };
  const judged = await judgeStatements(script.commands, [options.cwd ?? '.'], walk);
  if (walk.commands.length === 0) walk.refusals.push('there is no command in it');
  const first = walk.refusals[0];
  if (first !== undefined) return refuse(`The command was refused: ${first}.`, walk.commands);
  if (Buffer.byteLength(judged.script) > MAX_SCRIPT_BYTES)
    return refuse('The command was refused: it is too long; write a file and run that.');
  return { allowed: true, script: judged.script, commands: walk.commands, effect: walk.writes ? 'write' : 'read' };
}
