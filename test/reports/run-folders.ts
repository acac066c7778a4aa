// Run folders as a run leaves them, made by hand so that every field can be what a stranger would write.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringifyJson } from '../../src/core/json.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { stamp, taskConfig } from '../helpers/events.ts';
import type { TaskConfig } from '../../src/core/config.ts';
import type { EventBody, ModelReplyEvent, RunStart, ToolEnd } from '../../src/core/events.ts';
import type { RunResult } from '../../src/reports/run-result.ts';

export const FINDINGS_MAP = {
  items: '/findings',
  path: '/file',
  line: '/line',
  end_line: '/end_line',
  level: '/severity',
  levels: { high: 'error' },
  title: '/rule',
  message: '/message',
};

export const FINDINGS = [
  { file: 'src/a.ts', line: 3, end_line: 5, severity: 'high', rule: 'no-eval', message: 'eval runs text' },
  { file: 'src/b c.ts', line: 9, severity: 'warning', rule: 'long', message: 'a long function' },
  { file: null, severity: 'notice', rule: null, message: 'the change has no test' },
];

type Overrides = Omit<Partial<RunResult>, 'usage'> & { usage?: Partial<RunResult['usage']> };

/** A result that is valid before the overrides. */
export function resultFile({ usage = {}, ...overrides }: Overrides = {}): RunResult {
  const task = taskConfig();
  return {
    schema_version: 1,
    run_id: '20261130T114500Z-1-ab12cd',
    task: { name: task.name, file: task.file, sha256: task.sha256, ref: null },
    status: 'success',
    exit_reason: 'completed',
    exit_code: 0,
    message: 'completed after 3 turns',
    output: { findings: FINDINGS },
    answers: [],
    output_errors: [],
    limit_reached: null,
    limits: { ...task.limits },
    usage: {
      total_input_tokens: 3000,
      total_output_tokens: 400,
      last_input_tokens: 1500,
      total_cache_creation_input_tokens: 0,
      total_cache_read_input_tokens: 0,
      total_thinking_tokens: 0,
      estimated: false,
      requests: 3,
      retries: 0,
      turns: 3,
      cost_usd: 0.02,
      prices_as_of: '2026-11-01',
      duration_ms: 61_500,
      api_duration_ms: 9000,
      tool_duration_ms: 500,
      models: {},
      tools: { read_file: { calls: 2, denied: 0, failed: 0, timed_out: 0, duration_ms: 10, bytes: 100 } },
      ...usage,
    },
    turns: 3,
    tool_calls: { total: 2, denied: 0, failed: 0, timed_out: 0 },
    denials: [],
    warnings: [],
    verify: [],
    gate: null,
    context: [],
    model: 'claude-sonnet-5-5',
    provider: 'anthropic',
    git: null,
    resumed: false,
    started_at: '2026-11-30T11:45:00.000Z',
    finished_at: '2026-11-30T11:46:01.500Z',
    duration_ms: 61_500,
    artifacts: { result: 'result.json', transcript: 'transcript.jsonl' },
    runner: {
      version: '0.1.0',
      node: 'v20.19.0',
      platform: 'linux-x64',
      sandbox: { mode: 'auto', active: 'bubblewrap', detail: '' },
    },
    ...overrides,
  } as RunResult; // fields beyond what a report reads are those of the file's schema
}

export function runStart(task: Partial<TaskConfig> = {}, overrides: Partial<RunStart> = {}): RunStart {
  return {
    type: 'run_start',
    transcript_version: 1,
    runner: resultFile().runner as RunStart['runner'],
    task: taskConfig({ findings: FINDINGS_MAP, ...task }),
    workspace: '/home/runner/repo',
    untrusted: false,
    git: null,
    context: [{ label: 'git diff main..HEAD', text: 'the diff', bytes: 8, omitted_bytes: 0, notes: [] }],
    system: 'You review.',
    tools: [{ name: 'read_file', description: 'read', input_schema: { type: 'object' } }],
    output_mode: 'text',
    ...overrides,
  };
}

export interface Call {
  id: string;
  name: string;
  input: unknown;
  output: string;
  status?: ToolEnd['status'];
  verdict?: 'allow' | 'deny';
  reason?: string;
}

/** The events of one turn with its calls. */
export function turnEvents(turn: number, text: string, calls: readonly Call[] = []): EventBody[] {
  const reply: ModelReplyEvent = {
    type: 'model_reply',
    turn,
    model: 'claude-sonnet-5-5',
    message_id: `msg_${turn}`,
    content: [
      { type: 'text', text },
      ...calls.map(({ id, name, input }) => ({
        type: 'tool_use' as const,
        id,
        name,
        input_json: JSON.stringify(input),
      })),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: { ...NO_USAGE, input_tokens: 800 + turn * 200, output_tokens: 100 },
    cost_usd: 0.004,
    duration_ms: 1200,
  };
  const start: EventBody = { type: 'turn_start', turn, reason: 'tool_results', max_tokens: 1000, concluding: false };
  return [start, reply, ...calls.flatMap(callEvents), { type: 'turn_end', turn, calls: calls.length }];
}

function callEvents({ id, name, output, status = 'ok', verdict = 'allow', reason }: Call): EventBody[] {
  const judged = { tool_use_id: id, name, verdict, input_sha256: 'a', ...(reason === undefined ? {} : { reason }) };
  return [
    { type: 'policy_verdict', ...judged },
    ...(verdict === 'allow'
      ? [{ type: 'tool_start', tool_use_id: id, name, effect: 'read', early: false } as const]
      : []),
    {
      type: 'tool_end',
      tool_use_id: id,
      name,
      status: verdict === 'allow' ? status : 'denied',
      content: [{ type: 'text', text: output }],
      is_error: status !== 'ok' || verdict !== 'allow',
      duration_ms: 12,
      bytes: Buffer.byteLength(output),
    },
  ];
}

/** The line a run ends its transcript with. */
export const RUN_END: EventBody = {
  type: 'run_end',
  outcome: { reason: 'completed' },
  exit_code: 0,
  message: 'completed after 3 turns',
};

export interface FolderParts {
  result?: RunResult | string | null;
  events?: readonly EventBody[] | string | null;
  /** On each line of the transcript. */
  run_id?: string;
}

/** Writes a run folder; a text stands in its file as it is, null leaves the file out. */
export function writeRun(folder: string, parts: FolderParts = {}): string {
  const { result = resultFile(), events = [runStart(), RUN_END], run_id } = parts;
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  if (result !== null) write('result.json', typeof result === 'string' ? result : JSON.stringify(result));
  if (events !== null) write('transcript.jsonl', typeof events === 'string' ? events : lines(events, run_id));
  return folder;
}

function lines(events: readonly EventBody[], run_id?: string): string {
  return stamp(events)
    .map((event) => `${stringifyJson(run_id === undefined ? event : { ...event, run_id })}\n`)
    .join('');
}
