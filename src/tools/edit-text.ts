import { lineAt } from './text-file.ts';

export type Edited = { ok: true; text: string; lines: number[] } | { ok: false; reason: string };

/** Replaces a text that stands exactly once, or everywhere with `all`. Both texts are literal; line ends of the place are kept. */
export function replaceText(text: string, old: string, replacement: string, all: boolean): Edited {
  if (old === '') return { ok: false, reason: 'old_str is empty; use insert_line and insert_text to add text' };
  const wanted = text.includes(old) ? old : asCrlf(old);
  const places = placesOf(text, wanted, all);
  if (places.length === 0)
    return { ok: false, reason: 'old_str does not occur (0 matches); read the file and copy the text exactly' };
  const lines = places.map((place) => lineAt(text, place));
  if (places.length > 1 && !all) {
    const where = `lines ${lines.slice(0, 10).join(', ')}${lines.length > 10 ? ', …' : ''}`;
    return {
      ok: false,
      reason: `old_str occurs ${places.length} times (${where}); add context until it is unique, or set replace_all`,
    };
  }
  let done = '';
  let from = 0;
  for (const place of places) {
    done += text.slice(from, place) + asLineEnds(replacement, text, place);
    from = place + wanted.length;
  }
  const changed = done + text.slice(from);
  return changed === text
    ? { ok: false, reason: 'old_str and new_str are equal; nothing changed' }
    : { ok: true, text: changed, lines };
}

/** Inserts whole lines after a line number; 0 is the top, behind a byte order mark. */
export function insertText(text: string, after: number, inserted: string): Edited {
  const ends = [...text.matchAll(/\n/g)].map((match) => match.index + 1);
  const open = text.length > (ends.at(-1) ?? 0);
  const count = ends.length + (open ? 1 : 0);
  if (after < 0 || after > count)
    return { ok: false, reason: `insert_line is ${after}; the file has ${count} lines, so 0 to ${count}` };
  const place = after === 0 ? markLength(text) : (ends[after - 1] ?? text.length);
  const added = asLineEnds(inserted, text, place);
  const end = endOf(text, place);
  // A last line without a newline gets one before the new text, and the file still ends without one.
  const atOpenEnd = after === count && open && after > 0;
  const body = atOpenEnd ? end + added.replace(/\r?\n$/, '') : added.endsWith('\n') ? added : added + end;
  return { ok: true, text: text.slice(0, place) + body + text.slice(place), lines: [after + 1] };
}

function markLength(text: string): number {
  return text.startsWith('\uFEFF') ? 1 : 0;
}

/** Overlapping places count when one is asked for, because each could be meant. */
function placesOf(text: string, wanted: string, all: boolean): number[] {
  const places: number[] = [];
  const step = all ? wanted.length : 1;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + step)) places.push(at);
  return places;
}

function asCrlf(text: string): string {
  return text.replaceAll(/\r?\n/g, () => '\r\n');
}

function asLineEnds(added: string, text: string, place: number): string {
  return endOf(text, place) === '\r\n' ? asCrlf(added) : added;
}

/** The line end used at a place: that of its own line, else of the line before. */
function endOf(text: string, place: number): string {
  const next = text.indexOf('\n', place);
  const near = next === -1 ? text.lastIndexOf('\n') : next;
  return near > 0 && text[near - 1] === '\r' ? '\r\n' : '\n';
}
