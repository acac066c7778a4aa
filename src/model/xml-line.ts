/** An open code fence of a Markdown text. */
export interface Fence {
  mark: string;
  length: number;
}

const FENCE = /^\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})(.*)$/;

/** The fence that is open after a line. */
export function fenceAfter(line: string, open: Fence | undefined): Fence | undefined {
  const [, run = '', rest = ''] = FENCE.exec(line) ?? [];
  const mark = run.charAt(0);
  if (run === '') return open;
  if (!open) return mark === '`' && rest.includes('`') ? undefined : { mark, length: run.length };
  return mark === open.mark && run.length >= open.length && rest.trim() === '' ? undefined : open;
}

/** How a place stands in its line: alone (or behind a call), behind words, or in something that is only shown. */
export class Standing {
  #begun = false;
  #quotation = false;
  /** Length of the run of backticks that opened a code span; 0: none is open. */
  #code = 0;
  #last = '';

  /** Takes the line's next part, which ends at the place. */
  after(part: string): 'alone' | 'inline' | 'quoted' {
    if (!this.#begun && part.trim() !== '') {
      this.#begun = true;
      this.#quotation = part.trimStart().startsWith('>');
    }
    for (const [run] of part.matchAll(/`+/g)) {
      if (this.#code === 0) this.#code = run.length;
      else if (this.#code === run.length) this.#code = 0;
    }
    this.#last = part.at(-1) ?? this.#last;
    if (!this.#begun) return 'alone';
    return this.#quotation || this.#code > 0 || /["'“”‘’„«»「『]/.test(this.#last) ? 'quoted' : 'inline';
  }
}
