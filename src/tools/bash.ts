import { existsSync } from 'node:fs';
import { cutMiddle } from '../core/cut.ts';
import type { Boundary, Exec, ExecResult, Tool, ToolContext, ToolOutput } from '../core/ports.ts';
import { numberField } from './result.ts';

const DEFINITION = {
  name: 'bash',
  description:
    'Runs a shell command in the workspace. Each simple command must be allowed by the task; substitutions, variables, assignments and & are refused. Nothing persists between calls. timeout_ms can only shorten the limit.',
  input_schema: {
    type: 'object',
    properties: { command: { type: 'string' }, timeout_ms: { type: 'integer' } },
    required: ['command'],
    additionalProperties: false,
  },
};

/** What a tool needs to start a process in the workspace. */
export interface ProcessParts {
  exec: Exec;
  boundary: Boundary;
  /** Absolute path of the workspace. */
  cwd: string;
}

/** The script was re-emitted for dash, which has none of bash's ways to evaluate quoted text. */
const SHELLS = ['/bin/dash', '/usr/bin/dash', '/bin/sh'];

/** Runs the script that the policy re-emitted, never the text of the call. */
export function createBash(parts: ProcessParts): Tool {
  const shell = SHELLS.find((path) => existsSync(path)) ?? '/bin/sh';
  return {
    definition: DEFINITION,
    async execute(call, plan, context) {
      if (plan.kind !== 'script') throw new Error(`bash cannot run a plan of kind ${plan.kind}`);
      const wanted = numberField(call.input, 'timeout_ms') ?? context.timeout_ms;
      const timeout_ms = Math.max(1, Math.min(wanted, context.timeout_ms));
      return runProcess([shell, '-c', plan.script], parts, { ...context, timeout_ms });
    },
  };
}

/** Stored bytes of one output; what a process writes beyond is only counted. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

export interface ProcessOptions {
  /** Absent: the process has no input. */
  stdin?: string;
  /** Exit codes that are no error; absent: 0. */
  ok_exit_codes?: readonly number[];
}

/** Runs an argument list and words its end: output, then how it ended unless that was a good exit code 0. */
export async function runProcess(
  argv: readonly string[],
  parts: ProcessParts,
  context: ToolContext,
  { stdin, ok_exit_codes = [0] }: ProcessOptions = {},
): Promise<ToolOutput> {
  const kept = createStore();
  const result = await parts.exec(argv, {
    cwd: parts.cwd,
    boundary: parts.boundary,
    timeout_ms: context.timeout_ms,
    signal: context.signal,
    ...(stdin !== undefined && { stdin }),
    max_output_bytes: context.max_output_bytes,
    filter: context.filter(),
    sink: (chunk) => kept.add(chunk),
  });
  const output = shownOutput(result, kept, context);
  const end = endOf(result, ok_exit_codes);
  const text = [...(output.text.trim() === '' ? [] : [output.text.replace(/\n$/, '')]), ...end.lines].join('\n');
  const content = [{ type: 'text' as const, text: text === '' ? '(no output)' : text }];
  return {
    status: end.status,
    content,
    bytes: result.bytes,
    ...(output.file !== undefined && { output_file: output.file }),
  };
}

interface Store {
  add(chunk: Uint8Array): void;
  bytes(): Buffer;
  full(): boolean;
}

function createStore(): Store {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let seen = 0;
  return {
    add(chunk) {
      const part = chunk.subarray(0, MAX_KEPT_BYTES - size);
      seen += chunk.length;
      size += part.length;
      if (part.length > 0) chunks.push(part.slice());
    },
    bytes: () => Buffer.concat(chunks),
    full: () => seen > size,
  };
}

/** Redacted before it is cut or stored, whatever the filter did: a secret on the edge of a cut would be half shown. */
function shownOutput(result: ExecResult, kept: Store, context: ToolContext): { text: string; file?: string } {
  if (result.omitted_bytes === 0) return { text: context.redact(result.output) };
  const bytes = kept.bytes();
  const whole = bytes.toString('utf8');
  const clean = context.redact(whole);
  // Output that is not UTF-8 is stored as it came, unless something in it had to go.
  const file = context.keep(clean === whole ? bytes : Buffer.from(clean));
  const shown = kept.full() ? context.redact(result.output) : cutMiddle(clean, context.max_output_bytes).text;
  const what = kept.full() ? `its first ${MAX_KEPT_BYTES} bytes` : 'the whole';
  return { text: `${shown}\n[read_file run:${file} pages ${what}]`, file };
}

function endOf(result: ExecResult, good: readonly number[]): { status: ToolOutput['status']; lines: string[] } {
  const detail = result.detail === undefined ? '' : `: ${result.detail}`;
  switch (result.ended_by) {
    case 'exit':
      return exitEnd(result.exit_code ?? -1, good.includes(result.exit_code ?? -1));
    case 'signal':
      return { status: 'error', lines: [`[ended by a signal${detail}]`] };
    case 'timeout':
      return { status: 'timed_out', lines: ['[timed out; it and all it started were ended; the output is partial]'] };
    case 'limit':
      return { status: 'error', lines: [`[ended: it took ${result.detail}; all it started was ended, too]`] };
    case 'cancel':
      return { status: 'cancelled', lines: ['[cut: the run is ending; the output is partial]'] };
    case 'start_failed':
      return { status: 'error', lines: [`[could not start${detail}]`] };
  }
}

/** A code other than 0 is shown also where it is no error: it says something. */
function exitEnd(code: number, good: boolean): { status: ToolOutput['status']; lines: string[] } {
  return { status: good ? 'ok' : 'error', lines: good && code === 0 ? [] : [`[exit code ${code}]`] };
}
