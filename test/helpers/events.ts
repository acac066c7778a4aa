import { EMPTY_STATE } from '../../src/agent/state.ts';
import { reduce } from '../../src/agent/reduce.ts';
import { TRANSCRIPT_VERSION } from '../../src/core/events.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { RunState } from '../../src/agent/state.ts';
import type { TaskConfig } from '../../src/core/config.ts';
import type { Attempt, EventBody, ModelReplyEvent, RunEvent, RunStart, ToolEnd } from '../../src/core/events.ts';
import type { Usage } from '../../src/core/usage.ts';

export const RUN_ID = '20261130T114500Z-1-ab12cd';
const BEGIN_MS = Date.parse('2026-11-30T11:45:00.000Z');

/** Stamps bodies as a journal would: numbered from 1, each `step_ms` after the one before. */
export function stamp(bodies: readonly EventBody[], options: { step_ms?: number; begin_ms?: number } = {}): RunEvent[] {
  const { step_ms = 1000, begin_ms = BEGIN_MS } = options;
  return bodies.map((body, index) => ({
    seq: index + 1,
    time: new Date(begin_ms + index * step_ms).toISOString(),
    run_id: RUN_ID,
    ...body,
  }));
}

/** The state after these events. */
export function stateOf(bodies: readonly EventBody[]): RunState {
  return stamp(bodies).reduce(reduce, EMPTY_STATE);
}

/** A task with the contract's defaults. */
export function taskConfig(overrides: Partial<TaskConfig> = {}): TaskConfig {
  return {
    name: 'pr-review',
    file: 'tasks/review.json',
    files: [],
    sha256: 'a'.repeat(64),
    ref: null,
    inputs: {},
    system: null,
    prompts: ['Review the change.'],
    context: [],
    model: {
      provider: 'anthropic',
      id: 'claude-sonnet-5-5',
      max_tokens: 16_000,
      tool_protocol: 'native',
      fallback: [],
    },
    tools: [],
    custom_tools: [],
    sandbox: {
      mode: 'auto',
      network: false,
      env: [],
      read: [],
      write: ['.'],
      git_write: false,
      allow_untrusted: false,
    },
    limits: {
      max_turns: 30,
      max_input_tokens: null,
      max_output_tokens: null,
      max_total_tokens: 2_000_000,
      max_cost_usd: null,
      max_tool_calls: 200,
      max_denials: 10,
      timeout_ms: 1_200_000,
      tool_timeout_ms: 120_000,
      idle_timeout_ms: 120_000,
      max_retries: 8,
      on_limit: 'finalize',
    },
    output: { repair_attempts: 2 },
    verify: [],
    redact: [],
    ...overrides,
  };
}

export function runStart(overrides: Partial<RunStart> = {}): RunStart {
  return {
    type: 'run_start',
    transcript_version: TRANSCRIPT_VERSION,
    runner: {
      version: '0.1.0',
      node: 'v20.19.0',
      platform: 'linux-x64',
      sandbox: { mode: 'auto', active: 'bubblewrap', detail: 'bubblewrap 0.8' },
    },
    task: taskConfig(),
    workspace: '/workspace',
    untrusted: false,
    git: { head: 'c0ffee', branch: 'main', dirty: false },
    context: [],
    system: 'You are a reviewer.',
    tools: [],
    output_mode: 'text',
    ...overrides,
  };
}

export function usage(overrides: Partial<Usage> = {}): Usage {
  return { ...NO_USAGE, input_tokens: 100, output_tokens: 20, ...overrides };
}

export function reply(overrides: Partial<ModelReplyEvent> = {}): ModelReplyEvent {
  return {
    type: 'model_reply',
    turn: 1,
    model: 'claude-sonnet-5-5',
    message_id: 'msg_1',
    request_id: 'req_1',
    content: [{ type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
    usage: usage(),
    cost_usd: 0.5,
    duration_ms: 900,
    ...overrides,
  };
}

/** A reply that asks for calls of one tool with these inputs; their ids are toolu_1, toolu_2 … */
export function replyWithCalls(
  name: string,
  inputs: readonly string[],
  overrides: Partial<ModelReplyEvent> = {},
): ModelReplyEvent {
  const content = inputs.map((input_json, index) => ({
    type: 'tool_use' as const,
    id: `toolu_${index + 1}`,
    name,
    input_json,
  }));
  return reply({ content, stop_reason: 'tool_use', ...overrides });
}

export function turnStart(turn: number): EventBody {
  return { type: 'turn_start', turn, reason: 'tool_results', max_tokens: 16_000, concluding: false };
}

export function attempt(overrides: Partial<Attempt> = {}): Attempt {
  return {
    type: 'attempt',
    turn: 1,
    attempt: 1,
    max_attempts: 9,
    model: 'claude-sonnet-5-5',
    status: 529,
    error_type: 'overloaded_error',
    message: 'Overloaded',
    wait_ms: 2000,
    ...overrides,
  };
}

export function toolEnd(overrides: Partial<ToolEnd> = {}): ToolEnd {
  return {
    type: 'tool_end',
    tool_use_id: 'toolu_1',
    name: 'bash',
    status: 'ok',
    content: [{ type: 'text', text: 'ok' }],
    is_error: false,
    duration_ms: 250,
    bytes: 2,
    ...overrides,
  };
}

export function denial(overrides: Partial<Extract<EventBody, { type: 'policy_verdict' }>> = {}): EventBody {
  return {
    type: 'policy_verdict',
    tool_use_id: 'toolu_1',
    name: 'bash',
    verdict: 'deny',
    reason: 'no rule allows "curl"',
    input_sha256: 'b'.repeat(64),
    ...overrides,
  };
}

/** The check of an output that passed; `value_text` is its text. */
export function validOutput(
  value_text: string,
  overrides: Partial<Extract<EventBody, { type: 'output_checked' }>> = {},
): EventBody {
  return { type: 'output_checked', stage: 'schema', ok: true, kind: 'valid', issues: [], value_text, ...overrides };
}
