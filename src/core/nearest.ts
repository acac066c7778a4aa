// "Did you mean": the valid name that is nearest to what was written.

const LONGEST = 64;

/** The nearest of `names` within a third of the word's length, never the word itself; undefined when none is near. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const plainWord = plain(word);
  if (plainWord.length === 0 || plainWord.length > LONGEST) return undefined;
  const allowed = Math.max(1, Math.floor(plainWord.length / 3));
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    if (name === word) continue;
    const distance = editDistance(plainWord, plain(name));
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(word: string, names: readonly string[]): string {
  const name = nearest(word, names);
  return name === undefined ? '' : `; did you mean "${name}"?`;
}

/** "maxTurns", "max-turns" and "MAX_TURNS" are the same word to a reader. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** Insertions, deletions, substitutions and swaps of neighbours, one row at a time. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(substituted, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
