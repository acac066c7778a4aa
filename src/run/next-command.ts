import { formatDuration } from '../core/measures.ts';
import type { ExitReason, RunOutcome } from '../core/outcome.ts';

/** What the commands we suggest speak of; a part that is not known yet is left out of them. */
export interface NextFacts {
  /** The task as given on the command line. */
  task_file: string;
  /** The task and its options as they were typed, ready for a shell; absent: the task alone. */
  words?: string;
  /** As it can be typed in the current folder; absent: there is none. */
  run_dir?: string;
  /** What to set right when the service refuses the credentials: "set ANTHROPIC_API_KEY". */
  credentials?: string;
}

type Suggest = (facts: NextFacts, outcome: RunOutcome) => string | null;

const again: Suggest = (facts) => `agent-run ${typed(facts)}`;
const validate: Suggest = (facts) => `agent-run validate ${typed(facts)}`;
const resume: Suggest = (facts, outcome) =>
  facts.run_dir === undefined ? again(facts, outcome) : `agent-run resume ${shellWord(facts.run_dir)}`;
const doctor: Suggest = () => 'agent-run doctor';
const none: Suggest = () => null;
const read: Suggest = (facts, outcome) =>
  facts.run_dir === undefined ? validate(facts, outcome) : `cat ${shellWord(`${facts.run_dir}/summary.md`)}`;

const ask =
  (prompt: string): Suggest =>
  (facts, outcome) =>
    `${resume(facts, outcome)}${facts.run_dir === undefined ? '' : ` --prompt ${shellWord(prompt)}`}`;

/** A limit that only the task file knows: it is raised there. */
const raise =
  (field: string): Suggest =>
  (facts, outcome) =>
    `raise ${field} in the task, then ${again(facts, outcome) ?? ''}`;

/** On resume a flag is the new total, so it must lie above what was spent. */
const resumeWith =
  (flag: string, show: (total: number) => string): Suggest =>
  (facts, outcome) => {
    const hit = 'used' in outcome ? outcome : undefined;
    const command = resume(facts, outcome) ?? '';
    return hit ? `${command} ${flag} ${show(Math.max(hit.limit, hit.used) * 2)}` : command;
  };

const SUGGESTIONS = {
  completed: none,
  skipped: none,
  internal_error: resume,
  io_error: resume,
  config_error: validate,
  mcp_unavailable: validate,
  sandbox_unavailable: doctor,
  output_invalid: ask('Correct the output so that it matches the schema.'),
  output_missing: ask('Give your final answer now.'),
  truncated: raise('model.max_tokens'),
  max_turns: resumeWith('--max-turns', String),
  max_input_tokens: raise('limits.max_input_tokens'),
  max_output_tokens: raise('limits.max_output_tokens'),
  max_total_tokens: raise('limits.max_total_tokens'),
  max_cost: resumeWith('--max-cost-usd', (usd) => String(Number(usd.toPrecision(2)))),
  max_tool_calls: raise('limits.max_tool_calls'),
  timeout: resumeWith('--timeout', (ms) => formatDuration(Math.ceil(ms / 60_000) * 60_000)),
  context_exhausted: validate,
  max_denials: read,
  denied: (facts, outcome) =>
    'tool' in outcome && outcome.tool === 'bash'
      ? `agent-run explain ${shellWord(facts.task_file)} -- COMMAND`
      : read(facts, outcome),
  api_error: resume,
  auth_error: (facts, outcome) =>
    `${facts.credentials ?? "check the model's credentials"}, then ${resume(facts, outcome) ?? ''}`,
  rate_limited: resume,
  refused: (facts, outcome) => `${again(facts, outcome)} --model ID`,
  verify_failed: (facts, outcome) =>
    ask(`Make \`${'command' in outcome ? outcome.command : 'the check'}\` pass.`)(facts, outcome),
  gate_failed: read,
  cancelled: resume,
} as const satisfies Record<ExitReason, Suggest>;

/** What to type next after an ending, ready for a shell; null when there is nothing to do. */
export function nextCommand(outcome: RunOutcome, facts: NextFacts): string | null {
  if ('next' in outcome && outcome.next) {
    const { first, args } = outcome.next;
    const command = [again(facts, outcome), ...(args === undefined ? [] : [args])].join(' ');
    return first === undefined ? command : `${first}, then ${command}`;
  }
  return SUGGESTIONS[outcome.reason](facts, outcome);
}

/** Longer ones are no help in a line. */
const LONGEST_COMMAND = 400;

function typed({ words, task_file }: NextFacts): string {
  return words !== undefined && words.length <= LONGEST_COMMAND ? words : shellWord(task_file);
}

/** A text as one word of a POSIX shell, quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/[\r\n]+/g, ' ').replaceAll("'", `'\\''`)}'`;
}
