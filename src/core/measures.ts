// Durations and sizes as the task file writes them: "500ms", "90s", "10m", "2h"; "64KiB", "5MB".

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
/** Node fires a timer above this after 1 ms, so nothing longer is accepted. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

const SIZE = /^(\d+(?:\.\d+)?)(B|KB|MB|GB|KiB|MiB|GiB)$/;
const BYTES = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** Milliseconds of a duration text above zero and within the timer range, else undefined. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const ms = Math.round(Number(match[1]) * MS[match[2] as keyof typeof MS]); // the pattern admits only these units
  return ms > 0 && ms <= MAX_TIMER_MS ? ms : undefined;
}

/** Bytes of a size text, else undefined. */
export function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text);
  if (!match) return undefined;
  const bytes = Math.round(Number(match[1]) * BYTES[match[2] as keyof typeof BYTES]); // the pattern admits only these units
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The shortest exact duration text: 90000 is "90s", 120000 is "2m". */
export function formatDuration(ms: number): string {
  for (const unit of ['h', 'm', 's'] as const) {
    if (ms >= MS[unit] && ms % MS[unit] === 0) return `${ms / MS[unit]}${unit}`;
  }
  return `${ms}ms`;
}
