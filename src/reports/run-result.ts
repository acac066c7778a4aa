import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../core/json.ts';
import { compileSchema, type Validate } from '../core/json-schema.ts';
import { fieldOf } from './fields.ts';
import { readRegular } from './safe-file.ts';
import type { ExitReason, LimitHit, OutputIssue, RunStatus } from '../core/outcome.ts';

const MAX_RESULT_BYTES = 64 * 1024 ** 2;
const RESULT_VERSION = 1;

export interface ResultUsage {
  total_input_tokens: number;
  total_output_tokens: number;
  last_input_tokens: number;
  total_cache_creation_input_tokens: number;
  total_cache_read_input_tokens: number;
  total_thinking_tokens: number;
  estimated: boolean;
  requests: number;
  retries: number;
  cost_usd: number | null;
  api_duration_ms: number;
  tool_duration_ms: number;
  tools: Record<
    string,
    { calls: number; denied: number; failed: number; timed_out: number; duration_ms: number; bytes: number }
  >;
}

/** What a report uses of result.json; the schema that checks it is the published one. */
export interface RunResult {
  run_id: string;
  task: { name: string; file: string; sha256: string; ref: string | null };
  status: RunStatus;
  exit_reason: ExitReason;
  exit_code: number;
  message: string;
  output: JsonValue;
  answers: string[];
  output_errors: OutputIssue[];
  limit_reached: LimitHit | null;
  limits: JsonObject;
  usage: ResultUsage;
  turns: number;
  tool_calls: { total: number; denied: number; failed: number; timed_out: number };
  denials: { tool: string; tool_use_id: string; rule: string | null; reason: string }[];
  warnings: string[];
  verify: {
    command: string;
    ok: boolean;
    exit_code: number | null;
    timed_out: boolean;
    duration_ms: number;
    output: string;
  }[];
  gate: { ok: boolean; issues: OutputIssue[] } | null;
  context: { label: string; bytes: number; omitted_bytes: number; notes: string[] }[];
  model: string;
  provider: string;
  git: { head: string | null; branch: string | null; dirty: boolean } | null;
  resumed: boolean;
  started_at: string;
  finished_at: string;
  duration_ms: number;
  artifacts: Record<string, string>;
  runner: {
    version: string;
    node: string;
    platform: string;
    sandbox: { mode: string; active: string; detail: string };
  };
}

export type ReadResult =
  | { kind: 'result'; result: RunResult }
  | { kind: 'missing' }
  | { kind: 'refused'; problem: string };

/** Reads and checks a result.json. A field that a later version added is no problem, one that is missing or wrong is. */
export async function readResult(path: string): Promise<ReadResult> {
  const read = await readRegular(path, MAX_RESULT_BYTES);
  if (read.kind !== 'text') return read;
  const refuse = (what: string): ReadResult => ({ kind: 'refused', problem: `${path}: ${what}` });
  const parsed = parseJson(read.text);
  if (!parsed.ok) return refuse(`not a result: ${parsed.error.slice(0, 200)}`);
  const version = fieldOf(parsed.value, 'schema_version');
  if (typeof version === 'number' && version > RESULT_VERSION) {
    return refuse(
      `schema version ${version} is newer than this agent-run understands (${RESULT_VERSION}); update agent-run`,
    );
  }
  const [issue] = (await validator())(parsed.value);
  if (issue) return refuse(`not a result: ${issue.pointer || 'the whole'} ${issue.message}`.slice(0, 400));
  return { kind: 'result', result: parsed.value as unknown as RunResult }; // checked by the schema just above
}

let compiled: Promise<Validate> | undefined;

function validator(): Promise<Validate> {
  compiled ??= compile();
  return compiled;
}

async function compile(): Promise<Validate> {
  const { default: schema } = await import('../../schemas/result.schema.json', { with: { type: 'json' } });
  const checked = await compileSchema(open(schema), { source: 'result.schema.json' });
  if (!checked.ok) throw new Error(`schemas/result.schema.json does not compile: ${JSON.stringify(checked.issues)}`);
  return checked.validate;
}

/** The schema without `additionalProperties: false`: it closes the file for writers, not for readers. */
function open(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(open);
  if (!isJsonObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => key !== 'additionalProperties' || value !== false);
  return Object.fromEntries(kept.map(([key, value]) => [key, open(value)]));
}
