import type { ExitReason } from '../core/outcome.ts';

/** What a reason means and what to do about it; `docs/exit-reasons.md` is written from this. */
export interface ExitText {
  meaning: string;
  advice: string;
}

/** One sentence each for every way a run can end. */
export const EXIT_TEXTS = {
  completed: {
    meaning: 'The output is valid, and every verify command and the gate passed.',
    advice: 'Nothing. `result.limit_reached` says whether a limit made the run conclude early.',
  },
  skipped: {
    meaning: 'A context with `when_empty: skip` was empty, so nothing was asked and nothing was spent.',
    advice: 'Nothing.',
  },
  internal_error: {
    meaning: 'A bug in agent-run.',
    advice: 'Report it with the message; `agent-run resume` goes on from the last line of the transcript.',
  },
  io_error: {
    meaning: 'The machine failed: the disk is full, the run folder is gone or stdout was closed.',
    advice: 'Mend the cause (space, permissions, the reader of stdout), then `agent-run resume`.',
  },
  config_error: {
    meaning: 'A flag, the task file, a schema, an input or the credentials are wrong.',
    advice: 'Mend what the message names; `agent-run validate` checks without calling a model.',
  },
  mcp_unavailable: {
    meaning: 'An MCP server could not be started or did not answer in time.',
    advice: 'Run its command by hand; the message says what it answered.',
  },
  output_invalid: {
    meaning: 'The output does not match its schema, also after all repair attempts.',
    advice: 'Read the issues in `result.output_errors`; make the schema clearer or raise `output.repair_attempts`.',
  },
  output_missing: {
    meaning: 'The model ended its turn without an output.',
    advice: 'Say in the prompt what the answer is; `agent-run resume --prompt` asks once more.',
  },
  truncated: {
    meaning: "Replies were cut by the model's own `max_tokens`, several times in a row.",
    advice: 'Raise `model.max_tokens`, or ask for less in one answer.',
  },
  max_turns: {
    meaning: 'The turn limit was reached without a valid conclusion.',
    advice: '`agent-run resume --max-turns N` goes on with a higher total.',
  },
  max_input_tokens: {
    meaning: 'The budget of input tokens was used up without a valid conclusion.',
    advice: 'Raise `limits.max_input_tokens`, or give less context.',
  },
  max_output_tokens: {
    meaning: 'The budget of output tokens was used up without a valid conclusion.',
    advice: 'Raise `limits.max_output_tokens`.',
  },
  max_total_tokens: {
    meaning: 'The budget of all tokens was used up without a valid conclusion.',
    advice: 'Raise `limits.max_total_tokens`, or give less context.',
  },
  max_cost: {
    meaning: 'The cost limit was reached without a valid conclusion.',
    advice: '`agent-run resume --max-cost-usd N` goes on with a higher total.',
  },
  max_tool_calls: {
    meaning: 'All tool calls of the run were used without a valid conclusion.',
    advice: 'Raise `limits.max_tool_calls`.',
  },
  timeout: {
    meaning: 'The time limit was reached without a valid conclusion.',
    advice: '`agent-run resume --timeout D` goes on with a longer total.',
  },
  context_exhausted: {
    meaning: "The conversation no longer fits the model's context window.",
    advice: 'Give less context (`max_size`, `max_output`) or use a model with a larger window.',
  },
  max_denials: {
    meaning: 'The policy denied more calls than `limits.max_denials` admits.',
    advice: 'Read `result.denials`; allow what the task needs, or say in the prompt what is allowed.',
  },
  denied: {
    meaning: 'The policy denied a call of a tool with `on_denied: fail`.',
    advice: 'Read `result.denials`; `agent-run explain` shows which rule decides about a command.',
  },
  sandbox_unavailable: {
    meaning: 'A sandbox is required and none could be set up; nothing was spent.',
    advice: '`agent-run doctor` says what is missing.',
  },
  api_error: {
    meaning: 'The model service failed, also after all attempts.',
    advice: 'Quote the request id to the service; `agent-run resume` tries again from here.',
  },
  auth_error: {
    meaning: 'The model service refused the credentials.',
    advice:
      "Check the key in the variable that the task's `api_key_env` names, or the federation rule of a keyless run; then `agent-run resume`.",
  },
  rate_limited: {
    meaning: 'The model service kept answering that there were too many requests.',
    advice: 'Wait, or lower what runs at the same time; then `agent-run resume`.',
  },
  refused: {
    meaning: 'The model refused to answer.',
    advice: 'Read `message` for the category; change the prompt or the context, or use another model.',
  },
  verify_failed: {
    meaning: 'A verify command still fails after all attempts. The output is kept.',
    advice: 'Read `result.verify`; `agent-run resume --prompt` asks for another try.',
  },
  gate_failed: {
    meaning: 'The output is valid and the gate says no. The output is kept.',
    advice: 'Read the output: this is the verdict the gate is there for.',
  },
  cancelled: {
    meaning: 'SIGHUP (129), SIGINT (130) or SIGTERM (143) ended the run.',
    advice: '`agent-run resume` goes on where it stopped.',
  },
} as const satisfies Record<ExitReason, ExitText>;
