// Pages that are published: Liquid over whole values, every one of them escaped on its way into the Markdown.

import type { Liquid } from 'liquidjs';
import type { JsonValue } from './json.ts';
import { markdownCode, markdownInlineCode, markdownText } from './sanitise.ts';
import { describeTemplateError, type Rendering, TEMPLATE_BOUNDS, type TemplateError } from './template.ts';

/** What a page sees: a value below each root. */
export type PageScope = Readonly<Record<string, JsonValue>>;

/** For each root the names below it that exist; null: any, since only the output's schema knows them. */
export type PageNames = Readonly<Record<string, readonly string[] | null>>;

// Without what reads files, and without what would print a value past the escaping.
const TAGS = ['assign', 'if', 'unless', 'case', 'for', 'break', 'continue', 'comment', 'raw', '#'];
const UNESCAPED_FILTERS = ['raw'];

let engine: Liquid | undefined;

/** The first mistake of a page's template, found without any values; undefined when there is none. */
export async function pageTemplateError(text: string, names: PageNames): Promise<TemplateError | undefined> {
  engine ??= await createEngine();
  try {
    const { globals } = engine.analyzeSync(engine.parse(text));
    const uses = Object.entries(globals).flatMap(([root, all]) =>
      all.map(({ segments, location }) => ({ root, segments, location })),
    );
    for (const { root, segments, location } of uses) {
      const message = unknownName(root, segments[1], names);
      if (message !== undefined) return { message, line: location.row, column: location.col };
    }
    return undefined;
  } catch (error) {
    // Liquid throws for every mistake in a template.
    return describeTemplateError(error);
  }
}

/** The page with its values; what is missing in a value is nothing. Texts stay texts: `code` and `block` show them as they are. */
export async function renderPage(text: string, scope: PageScope): Promise<Rendering> {
  engine ??= await createEngine();
  try {
    return { ok: true, text: String(engine.renderSync(engine.parse(text), scope)) };
  } catch (error) {
    // A bound that was reached, or a filter that was given a value it cannot use.
    return { ok: false, error: describeTemplateError(error) };
  }
}

async function createEngine(): Promise<Liquid> {
  const { Liquid } = await import('liquidjs');
  const created = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    outputEscape: (value: unknown) => markdownText(textOf(value)),
    ...TEMPLATE_BOUNDS,
  });
  for (const tag of Object.keys(created.tags)) if (!TAGS.includes(tag)) delete created.tags[tag];
  for (const filter of UNESCAPED_FILTERS) delete created.filters[filter];
  // Both escape in their own way, so that the general escape must not come on top.
  created.registerFilter('code', { raw: true, handler: (value: unknown) => markdownInlineCode(textOf(value)) });
  created.registerFilter('block', { raw: true, handler: (value: unknown) => markdownCode(textOf(value, 2)) });
  return created;
}

function textOf(value: unknown, indent = 0): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value, null, indent) ?? '');
}

function unknownName(root: string, name: unknown, names: PageNames): string | undefined {
  const known = Object.hasOwn(names, root) ? names[root] : undefined;
  if (known === undefined) {
    return `${JSON.stringify(root)} does not exist in this template; expected one of ${Object.keys(names).join(', ')}`;
  }
  if (known === null || typeof name !== 'string' || known.includes(name)) return undefined;
  return `"${root}.${name}" does not exist in this template; expected one of ${known.join(', ')}`;
}
