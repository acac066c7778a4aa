import type { Find, SecretFinder } from './secret-finder.ts';
import { replaceFinds } from './secret-marker.ts';

/** Characters of what was given out that are kept, because patterns look to the left. */
const CONTEXT = 64;
/** A token longer than this is not held any more: it is marked, and the rest of it swallowed as it comes. */
const LONGEST_HELD = 16_384;

/** Text on its way through, held back only as far as a secret may still begin or go on there. */
export class HeldText {
  readonly #finder: SecretFinder;
  #given = '';
  #pending = '';
  #swallowing: RegExp | undefined;

  constructor(finder: SecretFinder) {
    this.#finder = finder;
  }

  /** Takes the next piece and gives back what is decided so far. */
  push(chunk: string): string {
    this.#pending += chunk;
    this.#swallow();
    const { text, from } = this.#view();
    const wanted = text.length - this.#finder.reach;
    if (wanted <= from) return '';
    const { found, undecided } = this.#finder.find(text, from, wanted);
    const last = found.at(-1);
    if (last?.rest && last.end === text.length && last.end - last.at > LONGEST_HELD) {
      this.#swallowing = last.rest;
      return this.#give(text, text.length, found);
    }
    return this.#give(text, decidedEnd(text, Math.min(wanted, undecided), found), found);
  }

  /** Gives back what was held; nothing may follow. */
  end(): string {
    this.#swallow();
    const { text, from } = this.#view();
    return this.#give(text, text.length, this.#finder.find(text, from, text.length).found);
  }

  #view(): { text: string; from: number } {
    return { text: this.#given + this.#pending, from: this.#given.length };
  }

  #give(text: string, to: number, found: readonly Find[]): string {
    const from = this.#given.length;
    if (to <= from) return '';
    const out = replaceFinds(
      text,
      from,
      to,
      found.filter((find) => find.end <= to),
    );
    this.#given = (this.#given + out).slice(-CONTEXT);
    this.#pending = text.slice(to);
    return out;
  }

  #swallow(): void {
    if (!this.#swallowing) return;
    this.#swallowing.lastIndex = 0;
    const length = this.#swallowing.test(this.#pending) ? this.#swallowing.lastIndex : 0;
    if (length < this.#pending.length) this.#swallowing = undefined;
    this.#pending = this.#pending.slice(length);
  }
}

/** The last place at or before `limit` in no find, no surrogate pair, and not behind a backslash, which may have to go too. */
function decidedEnd(text: string, limit: number, found: readonly Find[]): number {
  let end = limit;
  for (let before = -1; before !== end;) {
    before = end;
    while (end > 0 && /[\\\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
    for (const find of found.toReversed()) if (find.end > end && find.at < end) end = find.at;
  }
  return end;
}
