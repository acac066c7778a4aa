// Two drawings over the turns: how the context grew, and what each turn cost.

import type { PageTurn } from '../page-data.ts';
import { count, h, s, section, short, usd } from './dom.ts';

const WIDTH = 720;
const HEIGHT = 180;
const LEFT = 62;
const BOTTOM = 22;
const TOP = 10;

interface Chart {
  title: string;
  /** What the drawing says, for those who cannot see it. */
  told: string;
  top: number;
  label: (value: number) => string;
  marks: (x: (at: number) => number, y: (value: number) => number) => SVGElement[];
}

export function charts(turns: readonly PageTurn[], go: (entry: number) => void): HTMLElement | null {
  if (turns.length === 0) return null;
  return section(
    'charts',
    'Turn by turn',
    h('div', { class: 'charts' }, draw(contextChart(turns), turns, go), draw(costChart(turns), turns, go)),
  );
}

function contextChart(turns: readonly PageTurn[]): Chart {
  const top = Math.max(1, ...turns.map(({ prompt_tokens }) => prompt_tokens));
  const last = turns.at(-1)?.prompt_tokens ?? 0;
  return {
    title: 'Context: tokens of each request',
    told: `The prompt grew from ${count(turns[0]?.prompt_tokens ?? 0)} to ${count(last)} tokens over ${turns.length} turns, at most ${count(top)}.`,
    top,
    label: short,
    marks: (x, y) => [
      s('path', {
        class: 'area',
        d: area(
          turns.map(({ prompt_tokens }) => prompt_tokens),
          x,
          y,
        ),
      }),
      s('path', {
        class: 'area cached',
        d: area(
          turns.map(({ cached_tokens }) => cached_tokens),
          x,
          y,
        ),
      }),
      s('path', {
        class: 'line',
        d: line(
          turns.map(({ prompt_tokens }) => prompt_tokens),
          x,
          y,
        ),
      }),
    ],
  };
}

function costChart(turns: readonly PageTurn[]): Chart {
  const known = turns.every(({ cost_usd }) => cost_usd !== null);
  const value = (turn: PageTurn): number => (known ? (turn.cost_usd ?? 0) : turn.output_tokens);
  const top = Math.max(known ? 0.000001 : 1, ...turns.map(value));
  const sum = turns.reduce((total, turn) => total + value(turn), 0);
  const width = (x: (at: number) => number): number => Math.max(0.5, (x(1) - x(0)) * 0.7);
  return {
    title: known ? 'Cost of each turn' : 'Output tokens of each turn (cost unknown)',
    told: known
      ? `${usd(sum)} over ${turns.length} turns, at most ${usd(top)} in one.`
      : `${count(sum)} tokens over ${turns.length} turns.`,
    top,
    label: known ? usd : short,
    marks: (x, y) => [
      s('path', {
        class: 'bars',
        d: turns
          .map(
            (turn, at) =>
              `M${(x(at) - width(x) / 2).toFixed(2)} ${y(0)}v${(y(value(turn)) - y(0)).toFixed(2)}h${width(x).toFixed(2)}V${y(0)}z`,
          )
          .join(''),
      }),
    ],
  };
}

type Scale = (value: number) => number;

function line(values: readonly number[], x: Scale, y: Scale): string {
  return values.map((value, at) => `${at === 0 ? 'M' : 'L'}${x(at).toFixed(2)} ${y(value).toFixed(2)}`).join('');
}

function area(values: readonly number[], x: Scale, y: Scale): string {
  return `${line(values, x, y)}L${x(values.length - 1).toFixed(2)} ${y(0)}L${x(0).toFixed(2)} ${y(0)}z`;
}

function draw(chart: Chart, turns: readonly PageTurn[], go: (entry: number) => void): HTMLElement {
  const step = (WIDTH - LEFT - 10) / Math.max(1, turns.length);
  const x = (at: number): number => LEFT + step * (at + 0.5);
  const y = (value: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / chart.top);
  const grid = [0, 0.5, 1].map((part) => gridLine(y(chart.top * part), chart.label(chart.top * part)));
  const ends = [0, turns.length - 1].filter((at, index, all) => all.indexOf(at) === index);
  const ticks = ends.map((at) =>
    s('text', { x: x(at), y: HEIGHT - 5, 'text-anchor': at === 0 ? 'start' : 'end' }, `turn ${turns[at]?.turn ?? ''}`),
  );
  const cursor = s('line', { class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM, visibility: 'hidden' });
  const drawing = s(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      tabindex: 0,
      'aria-label': `${chart.title}. ${chart.told} Arrow keys move over the turns, Enter goes to one.`,
    },
    ...grid,
    ...chart.marks(x, y),
    ...ticks,
    cursor,
  );
  const readout = h('p', { class: 'readout quiet', 'aria-live': 'polite' }, chart.told);
  follow(drawing, { turns, x, step, cursor, readout, go });
  return h('figure', {}, h('figcaption', {}, chart.title), drawing, readout);
}

function gridLine(at: number, label: string): SVGElement {
  return s(
    'g',
    { class: 'grid' },
    s('line', { x1: LEFT, x2: WIDTH - 10, y1: at, y2: at }),
    s('text', { x: LEFT - 6, y: at + 4, 'text-anchor': 'end' }, label),
  );
}

interface Follow {
  turns: readonly PageTurn[];
  x: Scale;
  step: number;
  cursor: SVGElement;
  readout: HTMLElement;
  go: (entry: number) => void;
}

/** Pointer and arrow keys choose a turn; its figures are read out, a click or Enter goes there. */
function follow(drawing: SVGSVGElement, { turns, x, step, cursor, readout, go }: Follow): void {
  let chosen = -1;
  const choose = (at: number): void => {
    chosen = Math.min(turns.length - 1, Math.max(0, at));
    const turn = turns[chosen];
    if (!turn) return;
    cursor.setAttribute('x1', String(x(chosen)));
    cursor.setAttribute('x2', String(x(chosen)));
    cursor.setAttribute('visibility', 'visible');
    readout.textContent = `Turn ${turn.turn}: ${count(turn.prompt_tokens)} tokens in (${count(turn.cached_tokens)} cached), ${count(turn.output_tokens)} out, ${usd(turn.cost_usd)}`;
  };
  const open = (): void => go(turns[chosen]?.entry ?? -1);
  drawing.addEventListener('pointermove', (event) => {
    const box = drawing.getBoundingClientRect();
    choose(Math.floor((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / step));
  });
  drawing.addEventListener('click', open);
  drawing.addEventListener('keydown', (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.key === 'Enter') open();
    if (move === undefined) return;
    event.preventDefault();
    choose(chosen + move);
  });
}
