import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { IoError } from '../core/errors.ts';
import type { Exec, ExecOptions, ExecResult } from '../core/ports.ts';
import { type Exit, type Started, startProcess } from './exec-start.ts';
import { OutputBuffer, WholeCodePoints } from './output-buffer.ts';
import { endTree, holdTree } from './process-tree.ts';
import { defaultLimits, watchTree } from './tree-limits.ts';

/** A tree over its limits gets no time to clean up: it would use it to grow. */
const GRACE_MS = { timeout: 2000, cancel: 500, exit: 500, limit: 0 };
/** How long pipes may stay open after the last process we know of is gone. */
const DRAIN_MS = 400;

type End = { by: 'exit'; exit: Exit } | { by: 'timeout' | 'cancel' } | { by: 'limit'; what: string };

/** Runs one argument list; see `Exec`. Nothing it started is alive when it returns. */
export const exec: Exec = async (argv, options) => {
  const started_ms = performance.now();
  const output = new OutputBuffer(options.max_output_bytes);
  const result = (facts: Pick<ExecResult, 'exit_code' | 'ended_by' | 'detail'>): ExecResult => {
    const { text, bytes, omitted_bytes } = output.finish();
    return { ...facts, output: text, bytes, omitted_bytes, duration_ms: Math.round(performance.now() - started_ms) };
  };
  if (options.signal?.aborted) return result({ exit_code: null, ended_by: 'cancel' });
  const wrapped = options.boundary.wrap(argv, options.cwd);
  const release = once(() => wrapped.release?.());
  try {
    const child = await startProcess(wrapped, options.stdin);
    if (!child.ok) return result({ exit_code: null, ended_by: 'start_failed', detail: child.reason });
    const letGo = holdTree(child.tree, release);
    const end = await takeIn(child, options, output).finally(letGo);
    return result(factsOf(end));
  } finally {
    release();
  }
};

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}

function factsOf(end: End): Pick<ExecResult, 'exit_code' | 'ended_by' | 'detail'> {
  if (end.by === 'limit') return { exit_code: null, ended_by: 'limit', detail: end.what };
  if (end.by !== 'exit') return { exit_code: null, ended_by: end.by };
  const { code, signal } = end.exit;
  return signal === null
    ? { exit_code: code, ended_by: 'exit' }
    : { exit_code: null, ended_by: 'signal', detail: signal };
}

/** Reads to the first end, ends whatever is left of the tree, and gives the pipes a moment to run dry. */
async function takeIn(child: Started, options: ExecOptions, output: OutputBuffer): Promise<End> {
  const sink = new Sink(options, output);
  const reading = Promise.all([sink.read(child.stdout), sink.read(child.stderr)]);
  const end = await firstEnd(child, options, sink.broken.signal);
  await endTree(child.tree, GRACE_MS[end.by]);
  await Promise.race([reading, sleep(DRAIN_MS, undefined, { ref: false })]);
  child.stdout.destroy();
  child.stderr.destroy();
  sink.finish();
  return end;
}

async function firstEnd(child: Started, options: ExecOptions, broken: AbortSignal): Promise<End> {
  const signals = options.signal ? [options.signal, broken] : [broken];
  return new Promise<End>((resolve) => {
    const cancel = (): void => settle({ by: 'cancel' });
    const timer = setTimeout(() => settle({ by: 'timeout' }), options.timeout_ms);
    const unwatch = watchTree(child.tree, options.limits ?? defaultLimits(), (what) => settle({ by: 'limit', what }));
    const settle = (end: End): void => {
      clearTimeout(timer);
      unwatch();
      for (const signal of signals) signal.removeEventListener('abort', cancel);
      resolve(end);
    };
    for (const signal of signals) signal.addEventListener('abort', cancel, { once: true });
    if (signals.some((signal) => signal.aborted)) cancel();
    void child.exited.then((exit) => settle({ by: 'exit', exit }));
  });
}

/** Takes in both streams in order of arrival. */
class Sink {
  /** Aborted when the caller's sink fails: nothing more can be kept then. */
  readonly broken = new AbortController();
  private readonly options: ExecOptions;
  private readonly output: OutputBuffer;
  private readonly streams: WholeCodePoints[] = [];

  constructor(options: ExecOptions, output: OutputBuffer) {
    this.options = options;
    this.output = output;
  }

  async read(stream: Readable): Promise<void> {
    const whole = new WholeCodePoints();
    this.streams.push(whole);
    stream.on('data', (chunk: Uint8Array) => this.take(whole.push(chunk)));
    await new Promise<void>((resolve) => {
      stream.once('close', resolve);
      stream.on('error', () => resolve()); // a destroyed pipe; what was read counts
    });
  }

  /** Hands over what was held back; throws when the caller's sink had failed. */
  finish(): void {
    for (const stream of this.streams) this.take(stream.flush());
    if (this.options.filter) this.keep(this.options.filter.end());
    if (this.broken.signal.aborted) {
      throw new IoError('the output of a command cannot be stored', { cause: this.broken.signal.reason });
    }
  }

  private take(bytes: Uint8Array): void {
    const { filter } = this.options;
    // One filter for both: what a reader sees is the text as it came together.
    this.keep(filter && bytes.length > 0 ? filter.push(bytes) : bytes);
  }

  private keep(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.broken.signal.aborted) return;
    this.output.push(bytes);
    try {
      this.options.sink?.(bytes);
    } catch (error) {
      this.broken.abort(error); // a full disk; thrown again by finish, outside the stream's event
    }
  }
}
