// The interfaces where parts meet. They are put together in run/parts.ts; everyone else sees only these.

import type { ContextItem, VerifyCommand } from './config.ts';
import type {
  CheckResult,
  ContextPart,
  EventBody,
  GitState,
  OutputMode,
  RunEvent,
  SandboxState,
  ToolStatus,
  VerifyEnd,
} from './events.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ResultContent, ToolDefinition } from './messages.ts';

export type { Budget, Ledger, Room } from './ledger.ts';
export type { ModelClient, ModelReply, ModelRequest, SendHooks, SendResult } from './model-client.ts';
export type { ProtocolResult, ProtocolTexts, ProtocolTool, Texts } from './texts.ts';
export type { CheckResult } from './events.ts';

// -- time and chance, injected so that tests and replay decide them

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once (without error) when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** 0 <= x < 1. */
export type Random = () => number;

/** Replaces every known secret in a text; the same text always gives the same result. */
export type Redact = (text: string) => string;

// -- policy

export interface ToolCall {
  id: string;
  name: string;
  /** Already parsed strictly and valid for the tool's `input_schema`. */
  input: JsonObject;
}

/** What an allowed call will do: tools execute only this, never the model's text again. */
export type Plan =
  | { kind: 'file'; effect: 'read' | 'write'; path: string; real: string }
  /** `within`: globs of the rule that results must match, `!` excludes. */
  | { kind: 'search'; effect: 'read'; path: string; real: string; within: readonly string[] }
  | { kind: 'run_file'; effect: 'read'; path: string }
  /** `stdin` absent: no input. */
  | { kind: 'argv'; effect: 'read' | 'write'; argv: string[]; stdin?: string }
  | { kind: 'script'; effect: 'read' | 'write'; script: string }
  | { kind: 'call'; effect: 'read' | 'write' };

export type Judgement =
  | { verdict: 'allow'; plan: Plan; rule: string }
  | { verdict: 'deny' | 'terminate'; reason: string; rule?: string };

export interface Policy {
  judge(call: ToolCall): Promise<Judgement>;
}

// -- tools

/** Works on a stream of bytes, holding back what may be the start of a secret. */
export interface StreamFilter {
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

export interface ToolContext {
  signal: AbortSignal;
  /** Redacts before anything is cut. */
  redact: Redact;
  filter(): StreamFilter;
  timeout_ms: number;
  max_output_bytes: number;
  /** Stores a whole output that is cut for the model; returns its path below the run folder. */
  keep(bytes: Uint8Array): string;
  /** The same for an output that is still coming in; it must be redacted already. */
  keepAll(): OutputSink;
}

/** Takes in one whole output, up to what the run keeps. What cannot be stored is thrown as IoError. */
export interface OutputSink {
  write(bytes: Uint8Array): void;
  /** Closes it; the path below the run folder, and how many bytes are there and are not. */
  end(): { path: string; kept_bytes: number; left_out: number };
}

export interface ToolOutput {
  status: Extract<ToolStatus, 'ok' | 'error' | 'timed_out' | 'cancelled'>;
  content: ResultContent[];
  bytes: number;
  output_file?: string;
}

export interface Tool {
  readonly definition: ToolDefinition;
  execute(call: ToolCall, plan: Plan, context: ToolContext): Promise<ToolOutput>;
}

export type ParsedInput = { ok: true; input: JsonObject } | { ok: false; error: string };

export interface ToolRegistry {
  readonly definitions: readonly ToolDefinition[];
  get(name: string): Tool | undefined;
  /** Strict JSON, then the tool's schema. Empty text means {}. */
  parse(name: string, input_json: string): ParsedInput;
}

// -- workspace

export type Access = 'read' | 'write' | 'list';
export type ResolvedPath = { ok: true; path: string; real: string } | { ok: false; reason: string };

export interface FileList {
  files: string[];
  /** Files exist that are not named: over the limit, in a closed or too deep folder, or the walk was stopped. */
  more: boolean;
  /** Why nothing was listed: a pattern that leaves the folder or costs too much, a folder that is closed. */
  reason?: string;
}

export interface Files {
  /** Real absolute path of the workspace. */
  readonly root: string;
  /** Follows links of the target and its nearest existing parent; refuses what leaves the root or is no regular file (or folder, for `list`). `path` of the result is relative with `/`. */
  resolve(path: string, access: Access): Promise<ResolvedPath>;
  /** At most the first `max_bytes`; `size` is the whole. Opens what was resolved and checks the opened descriptor again. */
  read(
    real: string,
    max_bytes: number,
  ): Promise<{ ok: true; bytes: Uint8Array; size: number } | { ok: false; reason: string }>;
  /** Creates missing parent folders; replaces atomically, keeping the mode of an existing file. */
  write(real: string, bytes: Uint8Array): Promise<{ ok: true; created: boolean } | { ok: false; reason: string }>;
  /** Regular files below a folder, relative to the root, sorted, .gitignore respected, without `.git`, never through links that leave. Patterns are relative to the folder. */
  list(real: string, options: { patterns?: readonly string[]; limit: number; signal?: AbortSignal }): Promise<FileList>;
}

/** Where a child process runs: its whole environment and the command that is really started. */
export interface Boundary {
  readonly state: SandboxState;
  /** The only variables the child gets. */
  readonly env: Readonly<Record<string, string>>;
  /** The command to start for an argument list, inside the sandbox when there is one. */
  wrap(argv: readonly string[], cwd: string): Wrapped;
}

export interface Wrapped {
  argv: string[];
  /** Name of the process that only holds the others; absent: there is none. */
  holder?: string;
  cwd: string;
  env: Record<string, string>;
  /** Called once when the process tree is gone. */
  release?(): void;
}

export interface ExecOptions {
  cwd: string;
  boundary: Boundary;
  timeout_ms: number;
  signal?: AbortSignal;
  stdin?: string;
  /** Bytes of head and of tail held in memory; what lies between goes to `sink` only. */
  max_output_bytes: number;
  /** What all its processes may take together; absent: what the machine can bear. */
  limits?: { processes: number; memory_bytes: number };
  /** Applied to the output before it is cut or kept. */
  filter?: StreamFilter;
  /** Receives the whole output as it comes, stdout and stderr in order of arrival. */
  sink?: (chunk: Uint8Array) => void;
}

export interface ExecResult {
  /** null when a signal, the timeout or a failed start ended it. */
  exit_code: number | null;
  ended_by: 'exit' | 'signal' | 'timeout' | 'cancel' | 'limit' | 'start_failed';
  /** stdout and stderr in order of arrival, head and tail with the gap named, never split inside a code point. */
  output: string;
  bytes: number;
  omitted_bytes: number;
  duration_ms: number;
  /** Why the process could not start, the signal's name, or what it had too much of. */
  detail?: string;
}

/** Runs one argument list without a shell; without `stdin` the input is closed; ends the whole process tree on timeout and cancel. */
export type Exec = (argv: readonly string[], options: ExecOptions) => Promise<ExecResult>;

/** A process that runs beside the calls, its input and outputs open. */
export interface Service {
  /** What a dead process does not read any more is lost. */
  write(text: string): void;
  /** How it ended, in words; everything it wrote was handed over by then. */
  readonly exited: Promise<string>;
  /** Closes its input, and ends it and all it started within two seconds. */
  end(): Promise<void>;
  /** The same at once, by force. */
  kill(): void;
}

export interface ServiceOptions {
  cwd: string;
  boundary: Boundary;
  onStdout: (chunk: Uint8Array) => void;
  onStderr: (chunk: Uint8Array) => void;
}

/** Starts an argument list without a shell; what cannot start is a value with the reason. */
export type StartService = (
  argv: readonly string[],
  options: ServiceOptions,
) => Promise<{ ok: true; service: Service } | { ok: false; reason: string }>;

export interface Git {
  /** null when the workspace is no repository. */
  state(): Promise<GitState | null>;
  /** A diff as text; `base` absent: the working tree against HEAD. Errors are values for the caller's message. */
  diff(range: {
    base?: string;
    head?: string;
    paths: readonly string[];
  }): Promise<{ ok: true; text: string; files: string[]; notes: string[] } | { ok: false; reason: string }>;
  log(range: {
    base?: string;
    head?: string;
    paths: readonly string[];
  }): Promise<{ ok: true; text: string } | { ok: false; reason: string }>;
  /** Fetches what a range needs and the clone lacks, as far as a remote answers. Only before anything of the workspace ran. */
  fetchMissing(
    range: { base?: string; head?: string },
    options: { env: Record<string, string>; signal: AbortSignal },
  ): Promise<void>;
  /** Binary-safe patch from the tree recorded by `snapshot` to the present one, new files included; '' when equal. */
  snapshot(): Promise<string | null>;
  patchSince(snapshot: string): Promise<string>;
}

/** Once the signal aborts, what comes back may be cut, and is no context. */
export type CollectContext = (
  items: readonly ContextItem[],
  signal: AbortSignal,
) => Promise<{ parts: ContextPart[]; skip?: string; warnings: string[] }>;

// -- output

/** The tool that takes the output in mode `tool`; no other tool may have this name. */
export const SUBMIT_TOOL = 'submit_result';

/** The tool that loads skills, where the task has some. */
export const SKILL_TOOL = 'skill';
/** What one call may hand over: a skill's file is at most this large, and instructions are not cut. */
export const SKILL_LIMITS = { max_output_bytes: 257 * 1024, on_denied: 'continue' } as const;

export type Candidate = { source: 'text'; text: string } | { source: 'tool'; tool_use_id: string; input_json: string };

export interface OutputGate {
  readonly mode: OutputMode;
  /** Mode `tool`: the tool that takes the output. */
  readonly tool?: ToolDefinition;
  /** Mode `native`: the schema to send, unchanged. */
  readonly native_schema?: JsonValue;
  readonly has_gate: boolean;
  /** Finds the JSON in the candidate and validates it against the user's own schema. */
  check(candidate: Candidate): Promise<CheckResult>;
  /** The gate schema's verdict on a valid output; only called when `has_gate`. */
  gate(value_text: string): Promise<CheckResult>;
}

export type RunVerify = (command: VerifyCommand, signal: AbortSignal) => Promise<Omit<VerifyEnd, 'type' | 'index'>>;

// -- records

export interface Journal {
  /** Stamps the event and has it on disk before it returns; throws IoError. */
  append(body: EventBody): RunEvent;
}

export interface Subscriber {
  readonly name: string;
  onEvent(event: RunEvent): void;
}

export interface Bus {
  /** Hands the event to every subscriber in order; what one throws comes back as notices. */
  publish(event: RunEvent): EventBody[];
}
