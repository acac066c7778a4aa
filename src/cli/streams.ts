// stdout and stderr as places that may close or stall: writing never throws, and the end knows what became of it.

export interface Output {
  write(text: string): void;
  /** Resolves when everything was taken over, the stream closed, or its reader stood still; true: all was taken. */
  flush(): Promise<boolean>;
  readonly is_terminal: boolean;
  /** Of a terminal, at this moment. */
  columns(): number;
}

/** What this module needs of a stream. */
export interface Writable {
  write(chunk: Uint8Array, done: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

// Small pieces, so that a slow reader shows progress and only one that stands still is given up.
const PIECE = 16 * 1024;
const STALL_MS = 1500;

/** Wraps a stream; from then on its errors are ours: a reader that left is no reason to crash. */
export function openOutput(stream: Writable, stall_ms = STALL_MS): Output {
  const state: State = { pending: 0, lost: false };
  const settle = (error?: Error | null): void => {
    state.pending -= 1;
    if (error) state.lost = true;
    state.wake?.();
  };
  stream.on('error', () => {
    state.lost = true;
    state.wake?.();
  });
  return {
    is_terminal: stream.isTTY === true,
    columns: () => stream.columns || 80,
    write(text) {
      for (const piece of pieces(text)) {
        if (state.lost) return;
        state.pending += 1;
        stream.write(piece, settle);
      }
    },
    flush: () => flush(state, stall_ms),
  };
}

interface State {
  /** Pieces that were written and not taken yet. */
  pending: number;
  lost: boolean;
  wake?: () => void;
}

async function flush(state: State, stall_ms: number): Promise<boolean> {
  while (state.pending > 0 && !state.lost) {
    const before = state.pending;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, stall_ms);
      state.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    if (state.pending === before) return false;
  }
  return !state.lost;
}

/** Pieces of bytes: a piece of text could end inside a character. */
function pieces(text: string): Uint8Array[] {
  const bytes = Buffer.from(text, 'utf8');
  const count = Math.ceil(bytes.length / PIECE);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * PIECE, (index + 1) * PIECE));
}
