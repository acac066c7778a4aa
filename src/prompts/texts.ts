import { cutMiddle } from '../core/cut.ts';
import { UsageError } from '../core/errors.ts';
import { compilePrompt } from '../core/prompt-template.ts';
import { isPromptName, PROMPTS } from '../core/prompt-names.ts';
import { DEFAULTS } from './defaults.ts';
import { ENDINGS, RULES } from './system.ts';
import type { OutputMode } from '../core/events.ts';
import type { CallFault, ToolDefinition } from '../core/messages.ts';
import type { LimitHit } from '../core/outcome.ts';
import type { CheckResult, ProtocolTexts, Texts } from '../core/ports.ts';
import type { PromptName, Say } from '../core/prompt-names.ts';
import type { RenderPrompt } from '../core/prompt-template.ts';

/** Everything a run says to a model. */
export interface Prompts {
  texts: Texts;
  /** What models without tool calling are told. */
  protocol: ProtocolTexts;
  /** The system prompt; the same for every run of a task. */
  system(mode: OutputMode, task: string | null): string;
  /** A tool as it is offered. */
  described: (tool: ToolDefinition) => ToolDefinition;
  /** What the task's templates say with sample values, by name. */
  replaced: Readonly<Record<string, string>>;
}

const HAND_OVER: Record<OutputMode, string> = {
  text: 'give your final answer now as plain text',
  native: 'give your final answer now as JSON matching the output schema, and nothing else',
  tool: 'call submit_result now with your best result',
};

const LIMIT_NAMES: Record<LimitHit['reason'], string> = {
  max_turns: 'turn limit',
  max_input_tokens: 'input token limit',
  max_output_tokens: 'output token limit',
  max_total_tokens: 'token limit',
  max_cost: 'cost limit',
  max_tool_calls: 'tool call limit',
  timeout: 'time limit',
};

const FAULTS: Record<CallFault, string> = {
  unclosed: 'the call is not closed with </tool_call>',
  no_name: 'the call does not begin with <tool_call><name>NAME</name>',
  no_params: 'its parameters do not stand between <params> and </params>',
  open_string:
    'a string in its parameters is not closed; where the call ends is unknown, and nothing behind it was read',
  inline: 'the call stands behind other words of its line; if it was only to be shown, it belongs into a code fence',
  thinking: 'the call stands in thinking that is not closed; a call comes after </think>, or without thinking',
  forged_result: 'the reply writes a <tool_result> itself; results come only after your reply ends',
};

/** What a verify command printed is cut to this for the model. */
const VERIFY_OUTPUT_BYTES = 8 * 1024;

/** The texts of a run, with the task's templates in place of ours. Throws UsageError for a template with a mistake. */
export async function createPrompts(templates: Readonly<Record<string, string>> = {}): Promise<Prompts> {
  const replaced = new Map<PromptName, RenderPrompt>();
  for (const [name, text] of Object.entries(templates)) {
    if (!isPromptName(name)) throw new UsageError(`there is no prompt "${name}" that could be replaced`);
    const compiled = await compilePrompt(text, Object.keys(PROMPTS[name].variables));
    if (!compiled.ok) throw new UsageError(`the prompt "${name}" is no template: ${compiled.error.message}`);
    replaced.set(name, compiled.render);
  }
  const say: Say = (name, values) => rendered(replaced.get(name), values) ?? DEFAULTS[name](values);
  const shown = [...replaced.keys()].map((name) => [name, say(name, PROMPTS[name].samples[0])] as const);
  return {
    replaced: Object.fromEntries(shown),
    texts: createTexts(say),
    protocol: createProtocol(say, templates['tool_result'] ?? ''),
    system: (mode, task) =>
      say('system', { rules: RULES, result: ENDINGS[mode], output_mode: mode, task: task?.trim() ?? '' }),
    described: (tool) => ({
      ...tool,
      description: say('tool_description', { tool: tool.name, description: tool.description }),
    }),
  };
}

/** undefined: our own text is said instead. A model is better told that than nothing. */
function rendered(render: RenderPrompt | undefined, values: object): string | undefined {
  try {
    return render?.(values) || undefined;
  } catch {
    // Values that no sample was like: too much work for the bounds, or a filter that refuses them.
    return undefined;
  }
}

function createTexts(say: Say): Texts {
  const limit = ({ reason }: LimitHit) => ({ limit: LIMIT_NAMES[reason], reason });
  return {
    limitReminder: (hit, mode) =>
      say('limit_reminder', { ...limit(hit), hand_over: HAND_OVER[mode], output_mode: mode }),
    outputRepair: (check, attempts_left) => say('output_repair', { issues: issuesOf(check), attempts_left }),
    outputMissing: (mode) => say('output_missing', { hand_over: HAND_OVER[mode], output_mode: mode }),
    emptyReply: () => say('empty_reply', {}),
    verifyFeedback: ({ command, exit_code, timed_out, output }, attempts_left) => {
      const shown = cutMiddle(output, VERIFY_OUTPUT_BYTES).text;
      return say('verify_feedback', { command, exit_code, timed_out, output: shown, attempts_left });
    },
    compactionRequest: () => say('compaction_request', {}),
    compactionSummary: (summary) => say('compaction_summary', { summary }),
    compactionContinue: () => say('compaction_continue', {}),
    compacting: () => say('call_compacting', {}),
    submitAccepted: () => say('submit_accepted', {}),
    submitTooEarly: (prompts_left) => say('submit_too_early', { prompts_left }),
    onlyOneOutput: () => say('submit_repeated', {}),
    concluding: (hit) => say('call_concluding', limit(hit)),
    interrupted: () => say('call_interrupted', {}),
    callFault: (fault) => say('call_fault', { fault, what: FAULTS[fault] }),
    cut: (reason) => say('call_cut', { reason }),
    callLimit: (tool, most) => say('call_limit', { tool, limit: most }),
  };
}

function issuesOf({ issues }: CheckResult): { path: string; message: string }[] {
  return issues.map(({ pointer, message }) => ({ path: pointer === '' ? '(root)' : pointer, message }));
}

/** What a template puts around a result, a result may not hold. */
function createProtocol(say: Say, template: string): ProtocolTexts {
  const tags = [...template.matchAll(/<\/?\s*([A-Za-z][\w-]*)/g)].map(([, tag = '']) => tag);
  return {
    tags: [...new Set(tags)],
    tools: (tools) => say('tools', { tools }),
    toolResult: (result) => say('tool_result', result),
  };
}
