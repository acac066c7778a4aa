// The texts of calls and turns: unpacked from their chunk when somebody looks at them.

import type { Body } from '../page-data.ts';
import { button, count, h } from './dom.ts';

const KEPT_CHUNKS = 12;
const SHOWN_LENGTH = 20_000;

const chunks = new Map<number, Promise<readonly string[]>>();

/** All texts of one chunk; the last few stay unpacked. */
export function loadChunk(chunk: number): Promise<readonly string[]> {
  const known = chunks.get(chunk);
  chunks.delete(chunk);
  const loading = known ?? unpack(chunk);
  chunks.set(chunk, loading);
  const [oldest] = chunks.keys();
  if (chunks.size > KEPT_CHUNKS && oldest !== undefined) chunks.delete(oldest);
  return loading;
}

async function unpack(chunk: number): Promise<readonly string[]> {
  const packed = atob(document.getElementById(`chunk-${chunk}`)?.textContent ?? '');
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const texts: unknown = JSON.parse(await new Response(stream).text());
  return Array.isArray(texts) ? texts.map(String) : [];
}

/** A titled text that appears when its chunk is unpacked; a long one is shown in part until asked for. */
export function bodyView(label: string, [chunk, place, length]: Body): HTMLElement {
  const text = h('pre', { tabindex: 0, 'aria-label': label }, 'Unpacking…');
  const figure = h(
    'div',
    { class: 'body' },
    h(
      'div',
      { class: 'body-head' },
      h('span', {}, label),
      h('span', { class: 'quiet' }, `${count(length)} characters`),
    ),
    text,
  );
  void loadChunk(chunk).then((texts) => fill(figure, text, texts[place] ?? 'This text is not part of the page.'));
  return figure;
}

function fill(figure: HTMLElement, pre: HTMLElement, text: string): void {
  pre.textContent = text.slice(0, SHOWN_LENGTH);
  if (text.length <= SHOWN_LENGTH) return;
  const more = button(`Show all ${count(text.length)} characters`, () => {
    pre.textContent = text;
    pre.focus();
    more.remove();
  });
  figure.append(more);
}
