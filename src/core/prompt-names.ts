// Every text that is said to a model and can be replaced by a task, with the variables a template of it sees. The texts
// themselves are in prompts/.

import type { OutputMode } from './events.ts';
import type { ProtocolResult, ProtocolTool } from './texts.ts';

export interface PromptValues {
  system: { rules: string; result: string; output_mode: OutputMode; task: string };
  tool_description: { tool: string; description: string };
  tools: { tools: readonly ProtocolTool[] };
  tool_result: ProtocolResult;
  limit_reminder: { limit: string; reason: string; hand_over: string; output_mode: OutputMode };
  output_repair: { issues: readonly { path: string; message: string }[]; attempts_left: number };
  output_missing: { hand_over: string; output_mode: OutputMode };
  empty_reply: object;
  verify_feedback: {
    command: string;
    exit_code: number | null;
    timed_out: boolean;
    output: string;
    attempts_left: number;
  };
  compaction_request: object;
  compaction_summary: { summary: string };
  compaction_continue: object;
  call_compacting: object;
  call_concluding: { limit: string; reason: string };
  call_interrupted: object;
  call_cut: { reason: string };
  call_limit: { tool: string | null; limit: number };
  call_fault: { fault: string; what: string };
  submit_accepted: object;
  submit_too_early: { prompts_left: number };
  submit_repeated: object;
}

export type PromptName = keyof PromptValues;

/** Says one text with its values. */
export type Say = <N extends PromptName>(name: N, values: PromptValues[N]) => string;

interface PromptInfo<V> {
  about: string;
  /** What each variable holds. */
  variables: Readonly<Record<keyof V, string>>;
  /** Values as a run may have them; a template must render with each. */
  samples: readonly [V, ...V[]];
}

const MODE = '`text`, `native` or `tool`: how the output is given';
const HAND_OVER = 'how to give the result, as half a sentence';
const LEFT = 'how often it may be tried again';

export const PROMPTS: { readonly [N in PromptName]: PromptInfo<PromptValues[N]> } = {
  system: {
    about: 'The system prompt, without the tools.',
    variables: {
      rules: 'the built-in rules of a run',
      result: 'how the result is given, as a sentence',
      output_mode: MODE,
      task: "the task's own `system`; empty if there is none",
    },
    samples: [
      { rules: 'You work unattended.', result: 'Your last message is the result.', output_mode: 'text', task: '' },
      { rules: 'You work unattended.', result: 'Call submit_result.', output_mode: 'tool', task: 'Be brief.' },
    ],
  },
  tool_description: {
    about: 'The description of each tool, with either protocol.',
    variables: { tool: 'its name', description: 'the description it comes with' },
    samples: [{ tool: 'read_file', description: 'Reads a file.' }],
  },
  tools: {
    about: 'How tools are called, at the end of the system prompt. Only with `tool_protocol: "xml"`.',
    variables: { tools: 'a list; each has `name`, `description` and `schema`, JSON text' },
    samples: [{ tools: [{ name: 'read_file', description: 'Reads a file.', schema: '{"type":"object"}' }] }],
  },
  tool_result: {
    about: 'The result of a call. Only with `tool_protocol: "xml"`.',
    variables: {
      tool: 'its name',
      call: 'which call of the reply it answers, from 1',
      status: '`ok` or `error`',
      output: 'what the tool gave; holds none of the tags that the template writes',
    },
    samples: [
      { tool: 'read_file', call: 1, status: 'ok', output: 'hello' },
      { tool: 'bash', call: 2, status: 'error', output: '界 exit code 1' },
    ],
  },
  limit_reminder: {
    about: 'Asks for the conclusion when a limit is reached.',
    variables: {
      limit: 'the limit in words',
      reason: "the limit's name, such as `max_turns`",
      hand_over: HAND_OVER,
      output_mode: MODE,
    },
    samples: [{ limit: 'turn limit', reason: 'max_turns', hand_over: 'call submit_result now', output_mode: 'tool' }],
  },
  output_repair: {
    about: 'Says what is wrong with an output.',
    variables: { issues: 'a list; each has `path` and `message`', attempts_left: LEFT },
    samples: [
      { issues: [{ path: '/sum', message: 'must be a number' }], attempts_left: 2 },
      { issues: [], attempts_left: 1 },
    ],
  },
  output_missing: {
    about: 'The nudge after a turn that ended without a result.',
    variables: { hand_over: HAND_OVER, output_mode: MODE },
    samples: [{ hand_over: 'call submit_result now with your best result', output_mode: 'tool' }],
  },
  empty_reply: { about: 'The nudge after a reply without any content.', variables: {}, samples: [{}] },
  verify_feedback: {
    about: 'Says that a verify command fails.',
    variables: {
      command: 'the command',
      exit_code: 'its exit code; nil after a timeout',
      timed_out: 'whether its time was over',
      output: 'its output, cut to 8 KiB',
      attempts_left: LEFT,
    },
    samples: [
      { command: 'npm test', exit_code: 1, timed_out: false, output: '1 failed', attempts_left: 1 },
      { command: 'npm test', exit_code: null, timed_out: true, output: '', attempts_left: 2 },
    ],
  },
  compaction_request: { about: 'Asks for a summary before the window is full.', variables: {}, samples: [{}] },
  compaction_summary: {
    about: 'Hands the summary over to the fresh conversation.',
    variables: { summary: 'the summary' },
    samples: [{ summary: 'Read a and b; c is left.' }],
  },
  compaction_continue: {
    about: "Begins the conversation after the service's own summary.",
    variables: {},
    samples: [{}],
  },
  call_compacting: { about: 'Answer to a call made in place of a summary.', variables: {}, samples: [{}] },
  call_concluding: {
    about: 'Answer to a call in the concluding turn.',
    variables: { limit: 'the limit in words', reason: "the limit's name" },
    samples: [{ limit: 'turn limit', reason: 'max_turns' }],
  },
  call_interrupted: { about: 'Answer to a call during which the run was interrupted.', variables: {}, samples: [{}] },
  call_cut: {
    about: 'Answer to a call that the end of the run cut.',
    variables: { reason: 'the exit reason' },
    samples: [{ reason: 'cancelled' }],
  },
  call_limit: {
    about: 'Answer to a call beyond the number of calls.',
    variables: { tool: 'the tool whose calls are used; nil: those of the run', limit: 'how many there are' },
    samples: [
      { tool: 'bash', limit: 40 },
      { tool: null, limit: 200 },
    ],
  },
  call_fault: {
    about: 'Answer to a text that begins like a call and is none. Only with `tool_protocol: "xml"`.',
    variables: { fault: 'its name, such as `unclosed`', what: 'what is wrong, as a sentence' },
    samples: [{ fault: 'unclosed', what: 'the call is not closed with </tool_call>' }],
  },
  submit_accepted: { about: 'Answer to the call that hands over a valid output.', variables: {}, samples: [{}] },
  submit_too_early: {
    about: 'Answer to an output before the last prompt of a list.',
    variables: { prompts_left: 'how many prompts follow' },
    samples: [{ prompts_left: 1 }],
  },
  submit_repeated: { about: 'Answer to a second output in one turn.', variables: {}, samples: [{}] },
};

export function isPromptName(name: string): name is PromptName {
  return Object.hasOwn(PROMPTS, name);
}
