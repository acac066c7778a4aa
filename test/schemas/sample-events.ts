import type { TaskConfig } from '../../src/core/config.ts';
import type { EventBody, RunEvent } from '../../src/core/events.ts';
import { NO_USAGE } from '../../src/core/usage.ts';

export const SAMPLE_TASK: TaskConfig = {
  name: 'sample',
  file: 'task.json',
  files: [],
  sha256: '0'.repeat(64),
  ref: null,
  inputs: { base: 'main' },
  system: null,
  prompts: ['Say hello.'],
  context: [],
  model: { provider: 'script', id: 'script', max_tokens: 1000, tool_protocol: 'native', fallback: [] },
  tools: [{ name: 'bash', allow: ['ls'], deny: [], max_output_bytes: 30_720, on_denied: 'continue' }],
  custom_tools: [],
  sandbox: { mode: 'auto', network: false, env: [], read: [], write: ['.'], git_write: false, allow_untrusted: false },
  limits: {
    max_turns: 30,
    max_input_tokens: null,
    max_output_tokens: null,
    max_total_tokens: 2_000_000,
    max_cost_usd: 0.5,
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
};

export const SAMPLE_RUNNER = {
  version: '0.1.0',
  node: '20.20.2',
  platform: 'linux-x64',
  sandbox: { mode: 'auto', active: 'none', detail: 'not found' },
} as const;

const text = { type: 'text', text: 'x' } as const;
const hit = { reason: 'max_turns', limit: 30, used: 30 } as const;
const issue = { pointer: '/a', message: 'must be string; found 1' };
const start = {
  type: 'run_start',
  transcript_version: 1,
  runner: SAMPLE_RUNNER,
  task: SAMPLE_TASK,
  workspace: '/w',
  untrusted: false,
  system: 's',
  output_mode: 'tool',
} as const;

/** Every key of an event, also those that may be absent: a new one does not compile until it is here and in the schema. */
type Fullest = { [Type in EventBody['type']]: Required<Extract<EventBody, { type: Type }>> };

const FULLEST: Fullest = {
  run_start: { ...start, git: { head: null, branch: null, dirty: true }, context: [{ label: 'git diff', text: 'd', bytes: 1, omitted_bytes: 0, notes: ['n'] }], skip: 'git diff', tools: [{ name: 't', description: 'd', input_schema: { type: 'object' } }] },
  run_resume: { type: 'run_resume', prompt: 'Go on.', limits: SAMPLE_TASK.limits },
  turn_start: { type: 'turn_start', turn: 1, reason: 'prompt', max_tokens: 100, clamped_by: 'max_output_tokens', concluding: false, summarize: true },
  attempt: { type: 'attempt', turn: 1, attempt: 1, max_attempts: 9, model: 'm', status: 529, error_type: 'overloaded_error', message: 'm', request_id: 'r', wait_ms: 500, usage: { ...NO_USAGE, estimated: true }, cost_usd: null },
  model_reply: {
    type: 'model_reply', turn: 1, model: 'm', message_id: 'msg_1', request_id: 'r', stop_reason: 'refusal', stop_reason_raw: 'refusal',
    stop_details: { category: 'x', explanation: null }, usage: NO_USAGE, cost_usd: 0.1, duration_ms: 10, cache_miss_reason: 'messages_changed',
    content: [{ ...text, json: '{}', citations: null }, { type: 'thinking', thinking: 't', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, { type: 'tool_use', id: 't', name: 'bash', input_json: '{}', around_json: ['', ''] }, { type: 'opaque', json: '{}' }],
  },
  model_failed: { type: 'model_failed', turn: 1, kind: 'api_error', message: 'm', status: 500, request_id: 'r' },
  policy_verdict: { type: 'policy_verdict', tool_use_id: 't', name: 'bash', verdict: 'deny', rule: 'ls', reason: 'r', input_sha256: 'a'.repeat(64) },
  tool_start: { type: 'tool_start', tool_use_id: 't', name: 'bash', effect: 'read', early: true },
  tool_end: { type: 'tool_end', tool_use_id: 't', name: 'bash', status: 'ok', content: [text, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' }, width: 1, height: 1 }, { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' }, pages: 2 }], is_error: false, duration_ms: 1, bytes: 1, output_file: 'outputs/1', reused_from: 't0' },
  user_message: { type: 'user_message', reason: 'limit_reminder', content: [text, { type: 'tool_result', tool_use_id: 't', content: [text], is_error: true }], limit: hit },
  output_checked: { type: 'output_checked', stage: 'schema', attempt: 1, tool_use_id: 't', ok: false, kind: 'invalid', issues: [issue], value_text: '{}' },
  verify_end: { type: 'verify_end', index: 0, command: 'npm test', ok: false, exit_code: null, timed_out: true, output: 'o', duration_ms: 1 },
  compacted: { type: 'compacted', blocks: [{ type: 'opaque', json: '{}' }], summary: [text], usage: NO_USAGE, cost_usd: 0 },
  turn_end: { type: 'turn_end', turn: 1, calls: 2 },
  notice: { type: 'notice', level: 'warning', code: 'c', message: 'm' },
  run_end: { type: 'run_end', outcome: { reason: 'output_invalid', issues: [issue], attempts: 3 }, exit_code: 3, message: 'm' },
}; // prettier-ignore

/** The same without what may be absent. */
const BAREST: EventBody[] = [
  { ...start, git: null, context: [], tools: [] },
  { type: 'run_resume' },
  { type: 'turn_start', turn: 1, reason: 'finalize', max_tokens: 100, concluding: true },
  { type: 'attempt', turn: 1, attempt: 1, max_attempts: 9, model: 'm', message: 'connection reset' },
  { type: 'model_reply', turn: 1, model: 'm', message_id: 'msg_1', stop_reason: 'end_turn', usage: NO_USAGE, cost_usd: null, duration_ms: 1, content: [] },
  { type: 'model_failed', turn: 1, kind: 'budget', message: 'm', hit },
  { type: 'model_failed', turn: 1, kind: 'deadline', message: 'm' },
  { type: 'policy_verdict', tool_use_id: 't', name: 'bash', verdict: 'allow', input_sha256: 'a'.repeat(64) },
  { type: 'tool_end', tool_use_id: 't', name: 'bash', status: 'interrupted', content: [], is_error: true, duration_ms: 0, bytes: 0 },
  { type: 'user_message', reason: 'prompt', content: [text] },
  { type: 'output_checked', stage: 'gate', ok: true, kind: 'valid', issues: [] },
]; // prettier-ignore

export const SAMPLE_EVENTS: RunEvent[] = [...Object.values(FULLEST), ...BAREST].map((body, index) => ({
  seq: index + 1,
  time: '2026-11-30T12:00:00.000Z',
  run_id: '20261130T120000Z-1-abcdef',
  ...body,
}));
