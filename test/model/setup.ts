import type { ModelConfig } from '../../src/core/config.ts';
import type { AssistantMessage, Message, ToolUseBlock, UserMessage } from '../../src/core/messages.ts';
import { toolUses } from '../../src/core/messages.ts';
import type { Clock, ModelClient, ModelReply, ModelRequest, SendHooks, SendResult } from '../../src/core/ports.ts';
import type { LimitHit } from '../../src/core/outcome.ts';
import { createAnthropicClient } from '../../src/model/anthropic.ts';
import type { AnthropicDeps } from '../../src/model/anthropic.ts';

export const KEY = 'sk-ant-api03-not-a-real-key-0123456789';

/** A clock that jumps over every sleep and remembers it. */
export interface TestClock extends Clock {
  slept: number[];
}

export function testClock(start_ms = Date.parse('2026-11-30T12:00:00Z')): TestClock {
  let now_ms = start_ms;
  const slept: number[] = [];
  return {
    slept,
    now: () => now_ms,
    async sleep(ms) {
      slept.push(ms);
      now_ms += ms;
    },
  };
}

export function modelConfig(overrides: Partial<ModelConfig> = {}): ModelConfig {
  return {
    provider: 'anthropic',
    id: 'claude-sonnet-5-5',
    max_tokens: 16_000,
    tool_protocol: 'native',
    fallback: [],
    ...overrides,
  };
}

export interface Setup {
  config?: Partial<ModelConfig>;
  deps?: Partial<AnthropicDeps>;
}

/** A client of a server at `base_url`; no jitter, ten minutes left, waits are jumped over. */
export function anthropic(base_url: string, { config = {}, deps = {} }: Setup = {}): ModelClient {
  return createAnthropicClient(modelConfig({ base_url, ...config }), {
    env: { ANTHROPIC_API_KEY: KEY },
    clock: testClock(),
    random: () => 0,
    idle_timeout_ms: 5_000,
    max_retries: 8,
    deadline: () => 600_000,
    redact: (text) => text,
    ...deps,
  });
}

/** Hooks that remember what they were told. */
export interface RecordedHooks extends SendHooks {
  blocks: ToolUseBlock[];
  attempts: Parameters<SendHooks['onAttempt']>[0][];
  /** Every call by name, in order. */
  order: string[];
}

export function recordHooks(admit: () => LimitHit | undefined = () => undefined): RecordedHooks {
  const blocks: ToolUseBlock[] = [];
  const attempts: RecordedHooks['attempts'] = [];
  const order: string[] = [];
  return {
    blocks,
    attempts,
    order,
    onBlock(block) {
      blocks.push(block);
      order.push('block');
    },
    onDiscard: () => void order.push('discard'),
    onAttempt(attempt) {
      attempts.push(attempt);
      order.push('attempt');
    },
    admit() {
      order.push('admit');
      return admit();
    },
  };
}

export function user(text: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

export function modelRequest(messages: Message[] = [user('hello')], rest: Partial<ModelRequest> = {}): ModelRequest {
  return { system: 'You review changes.', tools: [], max_tokens: 16_000, ...rest, messages };
}

export const READ_FILE = {
  name: 'read_file',
  description: 'Read a file.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: [] },
};

/** Sends one turn and insists on a reply. */
export async function ask(client: ModelClient, request: ModelRequest, hooks = recordHooks()): Promise<ModelReply> {
  const result = await client.send(request, hooks, new AbortController().signal);
  if (!result.ok) throw new Error(`no reply: ${result.kind}: ${result.message}`);
  return result;
}

/** Sends one turn and insists on a failure. */
export async function fail(
  client: ModelClient,
  hooks = recordHooks(),
  signal = new AbortController().signal,
): Promise<Extract<SendResult, { ok: false }>> {
  const result = await client.send(modelRequest(), hooks, signal);
  if (result.ok) throw new Error('a reply came');
  return result;
}

/** The reply as history, and an answer to each of its calls. */
export function answered(reply: ModelReply, text = 'done'): [AssistantMessage, UserMessage] {
  const results = toolUses(reply.content).map(({ id }) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: [{ type: 'text' as const, text }],
  }));
  return [
    { role: 'assistant', content: reply.content },
    { role: 'user', content: results.length > 0 ? results : [{ type: 'text', text: 'go on' }] },
  ];
}
