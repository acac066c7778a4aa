// Elements without markup: what is given as text becomes a text node, never anything else.

type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean>;

/** An element; an attribute that is false is left out, one that is true has no value. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAll(element, attributes);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The same for drawings. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAll(element, attributes);
  element.append(...children.filter((child) => child !== null));
  return element;
}

function setAll(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes))
    if (value !== false) element.setAttribute(name, value === true ? '' : String(value));
}

/** A button that does something; `attributes` may say more of it. */
export function button(label: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', act);
  return element;
}

/** A titled part of the page. */
export function section(id: string, title: string, ...children: readonly Child[]): HTMLElement {
  const heading = h('h2', { id: `${id}-title` }, title);
  return h('section', { id, 'aria-labelledby': `${id}-title` }, heading, ...children);
}

/** A table with heads; every cell is given as a node or a text. */
export function table(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly (Node | string)[])[],
): HTMLElement {
  const head = h('tr', {}, ...heads.map((name) => h('th', { scope: 'col' }, name)));
  const body = rows.map((cells) =>
    h('tr', {}, ...cells.map((cell, at) => h('td', { 'data-head': heads[at] ?? '' }, cell))),
  );
  return h('table', {}, h('caption', { class: 'unseen' }, caption), h('thead', {}, head), h('tbody', {}, ...body));
}

/** "1,234". */
export function count(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** "1.2k", "3.4M": for axes and tables. */
export function short(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(value >= 1e7 ? 0 : 1)}M`;
  return value >= 1e3 ? `${(value / 1e3).toFixed(value >= 1e4 ? 0 : 1)}k` : value.toFixed(0);
}

/** "3.4 KiB". */
export function bytes(value: number): string {
  if (value >= 1024 ** 2) return `${(value / 1024 ** 2).toFixed(1)} MiB`;
  return value >= 1024 ? `${(value / 1024).toFixed(1)} KiB` : `${value} B`;
}

/** USD with the digits that tell something. */
export function usd(value: number | null): string {
  if (value === null) return 'cost unknown';
  return `$${value >= 1 ? value.toFixed(2) : value.toFixed(4)}`;
}
