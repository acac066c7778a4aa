import { errorText } from '../core/errors.ts';
import type { CallLimits } from '../core/config.ts';
import type { ToolEnd, ToolStatus } from '../core/events.ts';
import type { ResultContent } from '../core/messages.ts';
import type { Clock, OutputSink, Plan, Redact, StreamFilter, Tool, ToolCall } from '../core/ports.ts';

export interface Execution {
  tool: Tool;
  call: ToolCall;
  plan: Plan;
  limits: CallLimits;
  timeout_ms: number;
  signal: AbortSignal;
  parts: {
    clock: Clock;
    redact: Redact;
    filter(): StreamFilter;
    keepOutput(tool_use_id: string): OutputSink;
  };
}

interface Result {
  status: ToolStatus;
  content: ResultContent[];
  bytes: number;
  output_file?: string;
}

/** What a tool may still need after its own time is over, to end its processes and hand over what it has. */
const GRACE_MS = 4000;
const CANCEL_GRACE_MS = 1000;

/** Runs one allowed call to its end: in time, redacted, never thrown. */
export async function execute(execution: Execution): Promise<Omit<ToolEnd, 'type' | 'tool_use_id' | 'name'>> {
  const { clock, redact } = execution.parts;
  const began = clock.now();
  const over = new AbortController();
  const result = await Promise.race([runTool(execution), givenUp(execution, over.signal)]);
  over.abort();
  const content = result.content.map((block) => redacted(block, redact));
  return {
    status: result.status,
    content: content.length > 0 ? content : [{ type: 'text', text: '(no output)' }],
    is_error: result.status !== 'ok',
    duration_ms: clock.now() - began,
    bytes: result.bytes,
    ...(result.output_file === undefined ? {} : { output_file: result.output_file }),
  };
}

async function runTool({ tool, call, plan, limits, timeout_ms, signal, parts }: Execution): Promise<Result> {
  try {
    return await tool.execute(call, plan, {
      signal,
      timeout_ms,
      max_output_bytes: limits.max_output_bytes,
      redact: parts.redact,
      filter: () => parts.filter(),
      keep: (bytes) => {
        const sink = parts.keepOutput(call.id);
        sink.write(bytes);
        return sink.end().path;
      },
      keepAll: () => parts.keepOutput(call.id),
    });
  } catch (error) {
    // A tool that throws is a fault of ours or of the machine; the model is told and the run goes on.
    return failure('crashed', `The tool failed: ${errorText(error)}`);
  }
}

/** For a tool that ignores both its timeout and the signal. */
async function givenUp({ parts, timeout_ms, signal }: Execution, done: AbortSignal): Promise<Result> {
  const late = parts.clock.sleep(timeout_ms + GRACE_MS, done).then(() => 'timed_out' as const);
  const cut = aborted(signal, done)
    .then(() => parts.clock.sleep(CANCEL_GRACE_MS, done))
    .then(() => 'cancelled' as const);
  const status = await Promise.race([late, cut]);
  const text =
    status === 'timed_out'
      ? `The call did not end within ${timeout_ms} ms and was given up.`
      : 'The call was cut: the run is ending.';
  return failure(status, text);
}

function aborted(signal: AbortSignal, done: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: done });
  });
}

function failure(status: ToolStatus, text: string): Result {
  return { status, content: [{ type: 'text', text }], bytes: Buffer.byteLength(text) };
}

function redacted(block: ResultContent, redact: Redact): ResultContent {
  if (block.type !== 'text') return block;
  const clean = redact(block.text.toWellFormed());
  return { type: 'text', text: clean.trim() === '' ? '(no output)' : clean };
}
