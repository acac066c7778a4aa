// Interpolation: Liquid in one pass. A value is inserted as it is and never read as a template again.

import type { Liquid } from 'liquidjs';
import { didYouMean } from './nearest.ts';
import { errorText } from './errors.ts';

/** Roots a template sees and their values; null: declared, but nothing was given. */
export type TemplateScope = Readonly<Record<string, Readonly<Record<string, string | null>>>>;

/** Line and column count from 1 inside the template. */
export interface TemplateError {
  message: string;
  line: number;
  column: number;
}

export type Rendering = { ok: true; text: string } | { ok: false; error: TemplateError };

// A template is the task author's, but a loop over a large range is easily written by mistake.
export const TEMPLATE_BOUNDS = { parseLimit: 1e8, renderLimit: 1000, memoryLimit: 1e8 };
/** Tags that read files. */
export const FILE_TAGS = ['include', 'render', 'layout', 'block'];

let engine: Liquid | undefined;

/** True when the text holds anything that Liquid would read; all other texts cost nothing. */
export function isTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

/** True when an argument begins with a value, perhaps after dashes, so that a value could make it an option. */
export function beginsWithValue(template: string): boolean {
  return /^-*\{[{%]/.test(template);
}

/** The text with its values, or the first error: unknown names and filters are errors, as are all tags that read files. */
export async function renderTemplate(text: string, scope: TemplateScope): Promise<Rendering> {
  if (!isTemplate(text)) return { ok: true, text };
  engine ??= await createEngine();
  try {
    const parsed = engine.parse(text);
    const unknown = unknownNames(engine.analyzeSync(parsed).globals, scope);
    if (unknown) return { ok: false, error: unknown };
    return { ok: true, text: String(engine.renderSync(parsed, scope)) };
  } catch (error) {
    // Liquid throws for every mistake in a template; a RangeError is one nested too deeply.
    return { ok: false, error: describeTemplateError(error) };
  }
}

async function createEngine(): Promise<Liquid> {
  const { Liquid } = await import('liquidjs');
  const created = new Liquid({ strictVariables: true, strictFilters: true, ownPropertyOnly: true, ...TEMPLATE_BOUNDS });
  for (const tag of FILE_TAGS) delete created.tags[tag];
  return created;
}

type Globals = ReturnType<Liquid['analyzeSync']>['globals'];

/** Names are checked in every branch, also in those that these values do not take. */
function unknownNames(globals: Globals, scope: TemplateScope): TemplateError | undefined {
  for (const [root, uses] of Object.entries(globals)) {
    for (const use of uses) {
      const message = unknownName(root, use.segments[1], scope);
      if (message) return { message, line: use.location.row, column: use.location.col };
    }
  }
  return undefined;
}

function unknownName(root: string, name: unknown, scope: TemplateScope): string | undefined {
  const values = Object.hasOwn(scope, root) ? scope[root] : undefined;
  if (values === undefined) {
    const roots = Object.keys(scope);
    const written = typeof name === 'string' ? `${root}.${name}` : root;
    const raw = ' (a text that only looks like a template stands between {% raw %} and {% endraw %})';
    return `"${written}" does not exist in templates; expected ${roots.map((item) => `${item}.NAME`).join(' or ')}${raw}`;
  }
  if (typeof name !== 'string' || Object.hasOwn(values, name)) return undefined;
  const names = Object.keys(values);
  const known =
    names.length > 0 ? `expected one of ${names.map((item) => `"${item}"`).join(', ')}` : 'none is declared';
  return `"${root}.${name}" is unknown; ${known}${didYouMean(name, names)}`;
}

const POSITION = /,? line:(\d+), col:(\d+)$/;

/** What Liquid throws, with its place apart from its message. */
export function describeTemplateError(error: unknown): TemplateError {
  const text =
    error instanceof RangeError ? 'the template is nested too deeply' : (errorText(error).split('\n')[0] ?? '');
  const at = POSITION.exec(text);
  return { message: text.replace(POSITION, ''), line: Number(at?.[1] ?? 1), column: Number(at?.[2] ?? 1) };
}
