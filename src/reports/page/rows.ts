// Rows of the timeline that exist only near the window, so that tens of thousands of them scroll.

import type { PageEntry } from '../page-data.ts';
import { bodyView } from './bodies.ts';
import { h } from './dom.ts';

const BLOCK_ROWS = 40;
/** Height of a closed row before one was measured. */
const ROW_PX = 41;

export interface Rows {
  element: HTMLElement;
  /** Shows these rows, by index. */
  show: (indices: readonly number[]) => void;
  /** Opens a row, brings it into view and gives it the focus; false when it is not among those shown. */
  reveal: (index: number) => boolean;
}

interface Block {
  element: HTMLElement;
  indices: readonly number[];
  filled: boolean;
}

export function createRows(entries: readonly PageEntry[]): Rows {
  const element = h('div', { class: 'rows', role: 'list', 'aria-label': 'Timeline' });
  const opened = new Set<number>();
  const blocks = new Map<Element, Block>();
  const fill = (block: Block): void => {
    block.filled = true;
    block.element.replaceChildren(...block.indices.map((index) => row(entries[index], index, opened)));
    block.element.style.minHeight = '';
  };
  const watcher = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) {
        const block = blocks.get(target);
        if (block && isIntersecting && !block.filled) fill(block);
        else if (block && !isIntersecting) empty(block);
      }
    },
    { rootMargin: '1200px 0px' },
  );
  element.addEventListener('keydown', (event) => moveFocus(event, element));
  return {
    element,
    show(indices) {
      watcher.disconnect();
      blocks.clear();
      for (const block of split(indices)) blocks.set(block.element, block);
      element.replaceChildren(...blocks.keys());
      for (const target of blocks.keys()) watcher.observe(target);
    },
    reveal(index) {
      const block = [...blocks.values()].find(({ indices }) => indices.includes(index));
      if (!block) return false;
      opened.add(index);
      fill(block);
      bringIntoView(block.element.querySelector(`[data-entry="${index}"]`));
      return true;
    },
  };
}

function bringIntoView(found: Element | null): void {
  found?.scrollIntoView({ block: 'center' });
  found?.querySelector('button')?.focus({ preventScroll: true });
}

/** A block that is far away keeps its height and nothing else, unless somebody is in it. */
function empty(block: Block): void {
  if (!block.filled || block.element.contains(document.activeElement)) return;
  block.filled = false;
  block.element.style.minHeight = `${block.element.offsetHeight}px`;
  block.element.replaceChildren();
}

function split(indices: readonly number[]): Block[] {
  const blocks: Block[] = [];
  for (let from = 0; from < indices.length; from += BLOCK_ROWS) {
    const part = indices.slice(from, from + BLOCK_ROWS);
    const element = h('div', { class: 'block', role: 'presentation' });
    element.style.minHeight = `${part.length * ROW_PX}px`;
    blocks.push({ element, indices: part, filled: false });
  }
  return blocks;
}

function row(entry: PageEntry | undefined, index: number, opened: Set<number>): HTMLElement {
  if (!entry) return h('div');
  const { kind, tone, title, badge, summary, meta, at, bodies } = entry;
  const head = h(
    'button',
    { type: 'button', class: 'row-head', 'aria-expanded': 'false', disabled: bodies.length === 0 },
    h('span', { class: 'at' }, at),
    h(
      'span',
      { class: 'title' },
      h('span', { class: 'dot', 'aria-hidden': 'true' }),
      title,
      badge === '' ? null : h('span', { class: 'badge' }, badge),
    ),
    h('span', { class: 'summary' }, summary),
    h('span', { class: 'meta' }, meta),
  );
  const element = h('div', { class: `row ${kind} ${tone}`, role: 'listitem', 'data-entry': index }, head);
  const open = (): void => {
    head.setAttribute('aria-expanded', 'true');
    element.append(h('div', { class: 'bodies' }, ...bodies.map(([label, body]) => bodyView(label, body))));
  };
  head.addEventListener('click', () => {
    if (opened.delete(index)) {
      head.setAttribute('aria-expanded', 'false');
      element.querySelector('.bodies')?.remove();
    } else {
      opened.add(index);
      open();
    }
  });
  if (opened.has(index)) open();
  return element;
}

/** Up and down go from row to row. */
function moveFocus(event: KeyboardEvent, element: HTMLElement): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const from = document.activeElement;
  if (step === 0 || !(from instanceof HTMLElement) || !from.classList.contains('row-head')) return;
  const heads = [...element.querySelectorAll<HTMLElement>('.row-head:not(:disabled)')];
  const next = heads[heads.indexOf(from) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
