import { reduce } from '../../src/agent/reduce.ts';
import { EMPTY_STATE } from '../../src/agent/state.ts';
import { createBudget } from '../../src/budget/budget.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { createPrompts } from '../../src/prompts/texts.ts';
import type { RunState } from '../../src/agent/state.ts';
import type { Advice } from '../../src/agent/step.ts';
import type { Limits, TaskConfig } from '../../src/core/config.ts';
import type { EventBody, ModelReplyEvent, OutputMode, RunEvent, RunStart, ToolStatus } from '../../src/core/events.ts';
import type { AssistantBlock, StopReason, ToolUseBlock } from '../../src/core/messages.ts';

const { texts: TEXTS } = await createPrompts();
const START_MS = Date.parse('2026-11-30T10:00:00.000Z');

export const LIMITS: Limits = {
  max_turns: 30,
  max_input_tokens: null,
  max_output_tokens: null,
  max_total_tokens: null,
  max_cost_usd: null,
  max_tool_calls: 200,
  max_denials: 10,
  timeout_ms: 1_200_000,
  tool_timeout_ms: 120_000,
  idle_timeout_ms: 120_000,
  max_retries: 8,
  on_limit: 'stop',
};

export interface StoryOptions {
  limits?: Partial<Limits>;
  task?: Partial<TaskConfig>;
  mode?: OutputMode;
  has_gate?: boolean;
  context_tokens?: number | null;
}

/** run_start of a task with the given differences. */
export function runStart({ limits = {}, task = {}, mode = 'text' }: StoryOptions = {}): RunStart {
  return {
    type: 'run_start',
    transcript_version: 1,
    runner: { version: '0.0.0', node: 'v20', platform: 'linux', sandbox: { mode: 'off', active: 'none', detail: '' } },
    task: {
      name: 'story',
      file: 'task.json',
      sha256: '0'.repeat(64),
      files: [],
      ref: null,
      inputs: {},
      system: null,
      prompts: ['Do it'],
      context: [],
      model: { provider: 'script', id: 'script', max_tokens: 1000, tool_protocol: 'native', fallback: [] },
      tools: [],
      custom_tools: [],
      sandbox: {
        mode: 'off',
        network: false,
        env: [],
        read: [],
        write: ['.'],
        git_write: false,
        allow_untrusted: false,
      },
      limits: { ...LIMITS, ...limits },
      output: { repair_attempts: 2 },
      verify: [],
      redact: [],
      ...task,
    },
    workspace: '/workspace',
    untrusted: false,
    git: null,
    context: [],
    system: 'system',
    tools: [],
    output_mode: mode,
  };
}

/** The state after these events, one second apart. */
export function reduced(events: readonly EventBody[], from: RunState = EMPTY_STATE): RunState {
  return stamped(events).reduce(reduce, from);
}

export function stamped(events: readonly EventBody[]): RunEvent[] {
  return events.map((body, index) => ({
    seq: index + 1,
    time: new Date(START_MS + index * 1000).toISOString(),
    run_id: 'run',
    ...body,
  }));
}

export function advice({
  limits = {},
  mode = 'text',
  has_gate = false,
  context_tokens = null,
}: StoryOptions = {}): Advice {
  return {
    budget: createBudget({ ...LIMITS, ...limits }, null),
    texts: TEXTS,
    gate: { mode, has_gate },
    max_output_tokens: null,
    context_tokens,
  };
}

// -- events, in the fewest words

export const prompt: EventBody = { type: 'user_message', reason: 'prompt', content: [{ type: 'text', text: 'Do it' }] };

export function turn(number = 1, changes: Partial<Extract<EventBody, { type: 'turn_start' }>> = {}): EventBody {
  return { type: 'turn_start', turn: number, reason: 'prompt', max_tokens: 1000, concluding: false, ...changes };
}

export function text(words: string): AssistantBlock {
  return { type: 'text', text: words };
}

export function call(id: string, name = 'look', input_json = '{}'): ToolUseBlock {
  return { type: 'tool_use', id, name, input_json };
}

export function reply(
  content: AssistantBlock[],
  stop_reason?: StopReason,
  more: Partial<ModelReplyEvent> = {},
): EventBody {
  const calls = content.some((block) => block.type === 'tool_use');
  return {
    type: 'model_reply',
    turn: 1,
    model: 'script',
    message_id: 'msg',
    content,
    stop_reason: stop_reason ?? (calls ? 'tool_use' : 'end_turn'),
    usage: { ...NO_USAGE, input_tokens: 10, output_tokens: 5 },
    cost_usd: null,
    duration_ms: 1,
    ...more,
  };
}

export function ended(id: string, status: ToolStatus = 'ok', words = 'done'): EventBody {
  const content = [{ type: 'text' as const, text: words }];
  return {
    type: 'tool_end',
    tool_use_id: id,
    name: 'look',
    status,
    content,
    is_error: status !== 'ok',
    duration_ms: 1,
    bytes: 4,
  };
}

export function checked(ok: boolean, more: Partial<Extract<EventBody, { type: 'output_checked' }>> = {}): EventBody {
  const issues = ok ? [] : [{ pointer: '/a', message: 'must be a number' }];
  return {
    type: 'output_checked',
    stage: 'schema',
    ok,
    kind: ok ? 'valid' : 'invalid',
    issues,
    ...(ok ? { value_text: '{}' } : {}),
    ...more,
  };
}
