// How numbers are shown to people, in the log and in the summary alike. Files hold the exact ones.

const UNITS = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
] as const;

/** A span of time to read, not to parse: "450 ms", "4.2 s", "3m 12s", "1h 5m". */
export function showSpan(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole} ms`;
  if (whole < 59_950) return `${(whole / 1000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`;
}

/** USD with as many digits as tell something; an unknown cost is said, never shown as 0. */
export function showUsd(usd: number | null): string {
  if (usd === null) return 'cost unknown';
  if (usd === 0) return '$0';
  return usd < 0.0001 ? '<$0.0001' : `$${usd.toFixed(4)}`;
}

/** "12,345", whatever the machine's language. */
export function showCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** "1 turn", "2 turns". */
export function showMany(count: number, noun: string): string {
  return `${showCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** "812 B", "3.4 KiB". */
export function showBytes(bytes: number): string {
  const [unit, size] = UNITS.find(([, least]) => bytes >= least) ?? ['B', 1];
  return size === 1 ? `${bytes} B` : `${(bytes / size).toFixed(1)} ${unit}`;
}
