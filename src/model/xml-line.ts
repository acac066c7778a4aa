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

/** How a tag stands in its line: alone (or behind a call), behind words, or as something that is only shown. */
export function standing(before: string): 'alone' | 'inline' | 'quoted' {
  if (before.trim() === '') return 'alone';
  const quoted = /^\s*>/.test(before) || inCode(before) || /["'“”‘’„«»「『]$/.test(before);
  return quoted ? 'quoted' : 'inline';
}

function inCode(before: string): boolean {
  let open = 0;
  for (const [run] of before.matchAll(/`+/g)) {
    if (open === 0) open = run.length;
    else if (open === run.length) open = 0;
  }
  return open > 0;
}
