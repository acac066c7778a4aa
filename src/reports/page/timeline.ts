// The timeline with its filter and its search, which also looks into the packed texts.

import type { PageEntry, PageRun } from '../page-data.ts';
import { loadChunk } from './bodies.ts';
import { count, h, section } from './dom.ts';
import { createRows } from './rows.ts';

const FILTERS: Record<string, (entry: PageEntry) => boolean> = {
  everything: () => true,
  turns: ({ kind }) => kind === 'turn',
  calls: ({ kind }) => kind === 'call',
  'denied calls': ({ kind, badge }) => kind === 'call' && badge === 'denied',
  trouble: ({ tone }) => tone === 'bad' || tone === 'warn',
};
const TYPING_MS = 200;

export interface Timeline {
  element: HTMLElement;
  /** Goes to a row, and drops filter and search when they hide it. */
  go: (entry: number) => void;
  search: HTMLInputElement;
}

export function timeline({ entries }: PageRun): Timeline {
  const rows = createRows(entries);
  const search = h('input', {
    type: 'search',
    placeholder: 'Search titles and texts',
    'aria-label': 'Search the timeline',
  });
  const filter = h('select', { 'aria-label': 'Show' }, ...Object.keys(FILTERS).map((name) => h('option', {}, name)));
  const status = h('p', { class: 'quiet', role: 'status' });
  const show = (indices: readonly number[], note: string): void => {
    rows.show(indices);
    status.textContent = `${count(indices.length)} of ${count(entries.length)} rows${note}`;
  };
  const update = updater(entries, { search, filter, show });
  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void update(), TYPING_MS);
  });
  filter.addEventListener('change', () => void update());
  void update();
  const go = (entry: number): void => {
    if (entry < 0 || rows.reveal(entry)) return;
    search.value = '';
    filter.value = 'everything';
    void update().then(() => rows.reveal(entry));
  };
  const controls = h('div', { class: 'controls' }, search, filter, status);
  return { element: section('timeline', 'Timeline', controls, rows.element), go, search };
}

interface Asked {
  search: HTMLInputElement;
  filter: HTMLSelectElement;
  show: (indices: readonly number[], note: string) => void;
}

/** Shows what filter and search ask for: at once what the rows say, then what their texts hold. */
function updater(entries: readonly PageEntry[], { search, filter, show }: Asked): () => Promise<void> {
  let asked = 0;
  return async () => {
    asked += 1;
    const mine = asked;
    const text = search.value.trim();
    const needle = text.toLowerCase();
    const wanted = FILTERS[filter.value] ?? (() => true);
    const indices = entries.flatMap((entry, index) => (wanted(entry) ? [index] : []));
    if (needle === '') return show(indices, '');
    const found = new Set(indices.filter((index) => inHead(entries[index], needle)));
    show([...found], ', searching the texts…');
    const among = indices.filter((index) => !found.has(index));
    const more = await inBodies(entries, { needle, among, still: () => mine === asked });
    if (mine !== asked) return;
    for (const index of more) found.add(index);
    show(
      indices.filter((index) => found.has(index)),
      ` with “${text}”`,
    );
  };
}

function inHead(entry: PageEntry | undefined, needle: string): boolean {
  if (!entry) return false;
  return `${entry.title} ${entry.badge} ${entry.summary}`.toLowerCase().includes(needle);
}

interface Search {
  needle: string;
  among: readonly number[];
  /** False as soon as something else is searched for. */
  still: () => boolean;
}

/** Rows whose texts hold the needle; one chunk is unpacked at a time. */
async function inBodies(entries: readonly PageEntry[], { needle, among, still }: Search): Promise<number[]> {
  const places = new Map<number, [place: number, entry: number][]>();
  for (const index of among) {
    for (const [, [chunk, place]] of entries[index]?.bodies ?? []) {
      const list = places.get(chunk) ?? [];
      places.set(chunk, list);
      list.push([place, index]);
    }
  }
  const found: number[] = [];
  for (const [chunk, list] of places) {
    if (!still()) return [];
    const texts = await loadChunk(chunk);
    for (const [place, index] of list) if ((texts[place] ?? '').toLowerCase().includes(needle)) found.push(index);
  }
  return found;
}
