import type { Find } from './secret-finder.ts';

/** Stands for a secret; holds no character that means something in JSON strings, HTML or a shell's quotes. */
export const REDACTED = '[redacted]';

/** The stretch of text from `from` to `to` with the finds in it replaced. */
export function replaceFinds(text: string, from: number, to: number, finds: readonly Find[]): string {
  const parts: string[] = [];
  let done = from;
  for (const find of finds) {
    const kept = text.slice(done, find.start);
    parts.push(isEscaped(text, find.start) ? kept.slice(0, -1) : kept, REDACTED);
    done = find.end;
  }
  parts.push(text.slice(done, to));
  return parts.join('');
}

// In JSON text the first letter of a find may belong to an escape (`\n`): its backslash must not stay behind.
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (before > 0 && text[before - 1] === '\\') before -= 1;
  return (at - before) % 2 === 1;
}
