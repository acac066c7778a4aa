import { columnsOf, headOf } from '../core/graphemes.ts';

/** Lines at the bottom of a terminal that are redrawn in place, with lasting lines above them. */
export interface LiveArea {
  /** A line that stays, ended by a line break. */
  print(text: string): void;
  /** Replaces the lines that are redrawn; each is cut to the terminal's width. Texts must be safe for a terminal already. */
  draw(lines: readonly string[]): void;
  /** Takes them away. */
  clear(): void;
}

const UP = '\u001b[1A';
const ERASE_DOWN = '\r\u001b[J';

/** `columns` is asked at each drawing: a window can be made smaller. */
export function createLiveArea({ write, columns }: { write: (text: string) => void; columns: () => number }): LiveArea {
  let shown: readonly string[] = [];
  const erase = (): string => (shown.length === 0 ? '' : `${UP.repeat(shown.length - 1)}${ERASE_DOWN}`);
  return {
    print(text) {
      write(`${erase()}${text}${shown.join('\n')}`);
    },
    draw(lines) {
      // The last column stays free: some terminals wrap when it is filled.
      const cut = lines.map((line) => fitColumns(line, Math.max(1, columns() - 1)));
      if (cut.length === shown.length && cut.every((line, index) => line === shown[index])) return;
      write(`${erase()}${cut.join('\n')}`);
      shown = cut;
    },
    clear() {
      write(erase());
      shown = [];
    },
  };
}

/** A text in at most so many columns, the cut shown by an ellipsis. */
export function fitColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  // Nothing takes less than half of its units in columns but what only modifies, and that is no loss.
  let head = headOf(text, columns - 1);
  while (head !== '' && columnsOf(head) > columns - 1) head = headOf(head, head.length - 1);
  return `${head}…`;
}
