import type { ExitReason, NextStep, RunOutcome } from './outcome.ts';

/** Where in a file a mistake stands; lines and columns count from 1. */
export interface Place {
  file: string;
  line?: number;
  column?: number;
  /** JSON pointer of the value. */
  pointer?: string;
}

/** The caller's mistake (flag, file, schema): thrown before the first turn, printed without a stack. */
export class UsageError extends Error {
  readonly reason: Extract<ExitReason, 'config_error' | 'mcp_unavailable' | 'sandbox_unavailable'>;
  readonly place: Place | undefined;
  /** JSON pointer into the task, for whoever can say where that stands. */
  readonly pointer: string | undefined;
  /** What to do or type next, where that is not to look at the task again. */
  readonly next: NextStep | undefined;

  constructor(
    message: string,
    options: { place?: Place; pointer?: string; reason?: UsageError['reason']; next?: NextStep; cause?: unknown } = {},
  ) {
    super(options.place ? `${formatPlace(options.place)}: ${message}` : message, { cause: options.cause });
    this.name = 'UsageError';
    this.place = options.place;
    this.pointer = options.place?.pointer ?? options.pointer;
    this.reason = options.reason ?? 'config_error';
    this.next = options.next;
  }
}

/** A mistake of the caller as an ending. */
export function usageOutcome({ reason, message, next }: UsageError): RunOutcome {
  return { reason, detail: message, ...(next === undefined ? {} : { next }) };
}

/** The machine failed us (disk full, folder gone, stdout closed): exit reason `io_error`. */
export class IoError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'IoError';
  }
}

/** `file:line:column`, as editors and CI logs link it. */
export function formatPlace(place: Place): string {
  const position =
    place.line === undefined ? '' : `:${place.line}${place.column === undefined ? '' : `:${place.column}`}`;
  return `${place.file}${position}${place.pointer ? ` (${place.pointer})` : ''}`;
}

/** Makes a switch over a closed union fail to compile when a member is missing. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}

/** The text of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
