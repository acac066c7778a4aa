import { existsSync } from 'node:fs';
import type { Boundary, Exec, ExecResult, OutputSink, Tool, ToolContext, ToolOutput } from '../core/ports.ts';
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
  const kept = createStore(context);
  const result = await parts
    .exec(argv, {
      cwd: parts.cwd,
      boundary: parts.boundary,
      timeout_ms: context.timeout_ms,
      signal: context.signal,
      ...(stdin !== undefined && { stdin }),
      max_output_bytes: context.max_output_bytes,
      filter: context.filter(),
      sink: (chunk) => kept.add(chunk),
    })
    .finally(() => kept.end());
  const output = shownOutput(result, kept.end(), context);
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
  /** Where the whole is, if there was more than the model is shown. */
  end(): ReturnType<OutputSink['end']> | undefined;
}

/** Holds what the model is shown anyway; as soon as it is more, everything goes to the run folder as it comes. */
function createStore(context: ToolContext): Store {
  let held: Uint8Array[] = [];
  let size = 0;
  let sink: OutputSink | undefined;
  let ended: ReturnType<OutputSink['end']> | undefined;
  return {
    add(chunk) {
      size += chunk.length;
      if (sink === undefined && size <= context.max_output_bytes) return void held.push(chunk.slice());
      sink ??= context.keepAll();
      for (const earlier of held) sink.write(earlier);
      held = [];
      return sink.write(chunk);
    },
    end: () => (ended ??= sink?.end()),
  };
}

/** The filter has redacted what is stored; what is shown goes through once more, as every text for the model does. */
function shownOutput(
  result: ExecResult,
  stored: ReturnType<Store['end']>,
  context: ToolContext,
): { text: string; file?: string } {
  const text = context.redact(result.output);
  if (stored === undefined) return { text };
  const what = stored.left_out > 0 ? `its first ${stored.kept_bytes} bytes` : 'the whole';
  return { text: `${text}\n[read_file run:${stored.path} pages ${what}]`, file: stored.path };
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
