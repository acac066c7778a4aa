// Where the tokens went: the size of each text, times the requests it went along with.

import type { PageCarried, PageRun } from '../page-data.ts';
import { bytes, button, count, h, section, short, table } from './dom.ts';

const FIRST_ROWS = 15;
const SHADES = 6;

const weightOf = (row: PageCarried): number => row.bytes * row.turns;

export function carried(run: PageRun, go: (entry: number) => void): HTMLElement | null {
  const total = run.carried.reduce((sum, row) => sum + weightOf(row), 0);
  if (total === 0) return null;
  const note =
    run.input_tokens === null
      ? 'Shares of what all requests carried, by size.'
      : `Shares of what all requests carried, by size, applied to the ${count(run.input_tokens)} input tokens that were billed.`;
  const list = h('div', {}, rows(run, run.carried.slice(0, FIRST_ROWS), { total, go }));
  const all = button(`Show all ${run.carried.length}`, () => {
    list.replaceChildren(rows(run, run.carried, { total, go }));
    all.remove();
  });
  const more = run.carried.length > FIRST_ROWS ? all : null;
  return section('tokens', 'Where the tokens went', h('p', { class: 'quiet' }, note), groups(run, total), list, more);
}

function groups({ carried: all }: PageRun, total: number): HTMLElement {
  const sums = new Map<string, number>();
  for (const row of all) sums.set(row.group, (sums.get(row.group) ?? 0) + weightOf(row));
  const sorted = [...sums].sort((a, b) => b[1] - a[1]);
  const shown = sorted.slice(0, SHADES - 1);
  const rest = sorted.slice(SHADES - 1).reduce((sum, [, weight]) => sum + weight, 0);
  const parts: [string, number][] = rest > 0 ? [...shown, ['others', rest]] : shown;
  const bar = h('div', { class: 'stack', 'aria-hidden': 'true' });
  for (const [index, [, weight]] of parts.entries()) {
    const part = h('span', { class: `shade-${index}` });
    part.style.flexGrow = String(weight / total);
    bar.append(part);
  }
  const keys = parts.map(([name, weight], index) =>
    h(
      'li',
      {},
      h('span', { class: `key shade-${index}`, 'aria-hidden': 'true' }),
      `${name} `,
      h('strong', {}, `${((weight / total) * 100).toFixed(1)}%`),
    ),
  );
  return h('div', {}, bar, h('ul', { class: 'keys' }, ...keys));
}

interface Way {
  total: number;
  go: (entry: number) => void;
}

function rows({ input_tokens }: PageRun, list: readonly PageCarried[], { total, go }: Way): HTMLElement {
  const cells = list.map((row) => {
    const share = weightOf(row) / total;
    const name = row.entry < 0 ? h('span', {}, row.label) : button(row.label, () => go(row.entry), { class: 'link' });
    const tokens = input_tokens === null ? '' : `≈ ${short(share * input_tokens)}`;
    return [
      name,
      bytes(row.bytes),
      `× ${count(row.turns)}`,
      h('span', { class: 'nowrap' }, `${(share * 100).toFixed(1)}%`),
      tokens,
    ];
  });
  return table('Where the tokens went', ['What', 'Size', 'Requests', 'Share', 'Tokens'], cells);
}
