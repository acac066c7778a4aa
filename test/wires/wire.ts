import { onTestFinished } from 'vitest';
import { chunk, startChatServer, usageChunk } from '../helpers/chat-server/server.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import type { ChatReply } from '../helpers/chat-server/server.ts';
import type { ReplyLike } from '../helpers/messages-server/types.ts';

/** What a model says in one turn, whichever way it is said. */
export interface Said {
  text?: string;
  /** Calls by name and the text of their input. */
  calls?: readonly (readonly [name: string, input_json: string])[];
  /** `cut`: no room was left; `broken`: the connection breaks behind the calls; `stalled`: nothing more comes. */
  ends?: 'cut' | 'refused' | 'broken' | 'stalled';
  /** Tokens of the prompt; default: 100 more in each turn. */
  input_tokens?: number;
}

/** A service that plays a model's turns over HTTP. */
export interface Served {
  model: Record<string, unknown>;
  env: Record<string, string>;
  /** How many requests came. */
  asked(): number;
  /** What the service refused, or found wrong. */
  complaints(): readonly string[];
}

export interface Wire {
  name: string;
  serve(turns: readonly Said[]): Promise<Served>;
}

/** Each reply costs this. */
export const OUTPUT_TOKENS = 20;
const KEY = 'sk-not-a-real-key-0123456789abcdef';

export const WIRES: readonly Wire[] = [
  { name: 'Anthropic', serve: (turns) => serveMessages(turns, false) },
  { name: 'Anthropic, XML', serve: (turns) => serveMessages(turns, true) },
  { name: 'OpenAI', serve: (turns) => serveChat(turns, false) },
  { name: 'OpenAI, XML', serve: (turns) => serveChat(turns, true) },
];

async function serveMessages(turns: readonly Said[], xml: boolean): Promise<Served> {
  const replies = turns.map((said, index) => messagesReply(xml ? inWords(said) : said, index));
  const server = await startMessagesServer({ replies, conversations: 'by_first_message', foreign_history: true });
  onTestFinished(() => server.close());
  return {
    model: { provider: 'anthropic', id: 'claude-sonnet-5-5', base_url: server.url, ...protocol(xml) },
    env: { ANTHROPIC_API_KEY: KEY },
    asked: () => server.turns.length,
    complaints: () => server.failures,
  };
}

function messagesReply({ text, calls = [], ends, input_tokens }: Said, index: number): ReplyLike {
  const content = [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(([name, input_json]) => ({ type: 'tool_use', name, input_json })),
  ];
  const usage = { input_tokens: input_tokens ?? inputTokens(index), output_tokens: OUTPUT_TOKENS };
  const spec = { content, usage, delta_size: 7 };
  const after = `block_stop:${content.length - 1}` as const;
  if (ends === 'broken') return reply.reset({ ...spec, after });
  if (ends === 'stalled') return reply.stall({ ...spec, after });
  if (ends === 'cut') return reply.message({ ...spec, stop_reason: 'max_tokens' });
  if (ends === 'refused') return reply.message({ ...spec, stop_reason: 'refusal' });
  return reply.message(spec);
}

async function serveChat(turns: readonly Said[], xml: boolean): Promise<Served> {
  const replies = turns.map((said, index) => chatReply(xml ? inWords(said) : said, index));
  const server = await startChatServer({ key: KEY }, replies);
  return {
    model: { provider: 'openai', id: 'local', base_url: server.url, api_key_env: 'CHAT_KEY', ...protocol(xml) },
    env: { CHAT_KEY: KEY },
    asked: () => server.requests.length,
    complaints: () => [...server.refused, ...rewritten(server.requests.map(({ body }) => body))],
  };
}

/** Where a request is not the one before with more behind it; a fresh conversation begins with other words. */
function rewritten(bodies: readonly Record<string, unknown>[]): string[] {
  const sent = bodies.map(({ messages }) => (messages as unknown[]).map((message) => JSON.stringify(message)));
  return sent.flatMap((messages, index) => {
    const before = sent[index - 1] ?? [];
    const same = before.every((message, at) => message === messages[at]);
    return same || messages[1] !== before[1] ? [] : [`request ${index + 1} does not only append`];
  });
}

const FINISH = { cut: 'length', refused: 'content_filter', broken: null, stalled: null };

function chatReply({ text = '', calls = [], ends, input_tokens }: Said, index: number): ChatReply {
  const words = (text.match(/[^]{1,7}/gu) ?? []).map((content) => chunk({ content }));
  const called = calls.flatMap(([name, args], at) => {
    const head = { index: at, id: `call_${index}_${at}`, type: 'function', function: { name, arguments: '' } };
    return [head, { index: at, function: { arguments: args } }].map((call) => chunk({ tool_calls: [call] }));
  });
  const finish = ends === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : FINISH[ends];
  const chunks = [chunk({ role: 'assistant', content: '' }), ...words, ...called];
  if (finish === null) return { chunks, finally: ends === 'broken' ? 'reset' : 'stall' };
  const prompt_tokens = input_tokens ?? inputTokens(index);
  const usage = { prompt_tokens, completion_tokens: OUTPUT_TOKENS, total_tokens: prompt_tokens + OUTPUT_TOKENS };
  return { chunks: [...chunks, chunk({}, finish), usageChunk(usage)] };
}

function inputTokens(index: number): number {
  return 100 * (index + 1);
}

function protocol(xml: boolean): object {
  return xml ? { tool_protocol: 'xml' } : {};
}

/** The same turn as a model without tool calling writes it. */
function inWords({ calls = [], text, ...rest }: Said): Said {
  const written = calls.map(([name, input]) => `<tool_call><name>${name}</name><params>${input}</params></tool_call>`);
  return { ...rest, text: [...(text === undefined ? [] : [text]), ...written].join('\n') };
}
