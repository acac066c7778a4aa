// Templates of custom tools: they see the parameters of one call and nothing else. Every value that is inserted is
// marked while Liquid renders, so that the author's own text and the model's values can be told apart afterwards.

import type { Liquid, Template } from 'liquidjs';
import { didYouMean } from './nearest.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { describeTemplateError, isTemplate, TEMPLATE_BOUNDS, type TemplateError } from './template.ts';

export type ParameterRendering =
  | {
      ok: true;
      text: string;
      /** Where in the text the first value begins; null: the author's text only. */
      value_at: number | null;
      /** The template reads parameters, and none of them was given. */
      absent: boolean;
    }
  | { ok: false; reason: string };

// Tags that only choose and repeat. Whatever else writes a value is left out: it would not be marked.
const TAGS = new Set(['if', 'unless', 'case', 'for', 'break', 'continue', 'assign', 'comment', 'raw', '#']);
/** No value holds it: it cannot stand in an argument either. */
const MARK = '\0';
const BARE = /^\{\{-?\s*([A-Za-z_][\w-]*?)\s*-?\}\}$/;

let engine: Liquid | undefined;

/** The first mistake in a template over the given parameters, looked for in every branch; undefined: none. */
export async function findParameterMistake(
  template: string,
  names: readonly string[],
): Promise<TemplateError | undefined> {
  if (!isTemplate(template)) return undefined;
  engine ??= await createEngine();
  try {
    const parsed = engine.parse(template);
    for (const [root, uses] of rootsOf(engine, parsed)) {
      const location = uses[0]?.location;
      if (!names.includes(root))
        return { message: unknownParameter(root, names), line: location?.row ?? 1, column: location?.col ?? 1 };
    }
    return undefined;
  } catch (error) {
    // Liquid throws for every mistake in a template.
    return describeTemplateError(error);
  }
}

/** The template with the values of one call; `names` are the declared parameters, those without a value count as nil. */
export async function renderParameters(
  template: string,
  names: readonly string[],
  values: JsonObject,
): Promise<ParameterRendering> {
  if (!isTemplate(template)) return { ok: true, text: template, value_at: null, absent: false };
  engine ??= await createEngine();
  try {
    const parsed = engine.parse(template);
    const read = rootsOf(engine, parsed).map(([root]) => root);
    const marked = String(engine.renderSync(parsed, scopeOf(names, values)));
    const at = marked.indexOf(MARK);
    const text = marked.replaceAll(MARK, '').toWellFormed();
    const absent = read.length > 0 && read.every((name) => valueOf(values, name) === null);
    return { ok: true, text, value_at: at < 0 ? null : at, absent };
  } catch (error) {
    // A value that cannot be inserted, or more work than the bounds allow.
    return { ok: false, reason: describeTemplateError(error).message };
  }
}

/** The parameter that a template consists of, without any filter: `{{ name }}`. */
export function bareParameter(template: string): string | undefined {
  return BARE.exec(template)?.[1];
}

/** The value of a parameter; null when it was not given, which an explicit null means too. */
export function valueOf(values: JsonObject, name: string): JsonValue {
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null;
}

/** A value as an argument holds it; throws for a list or an object, which no single text stands for. */
export function plainText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') {
    const what = Array.isArray(value) ? 'a list' : 'an object';
    throw new TypeError(`${what} is no text; the template can say how it becomes one: | join: "," or | json`);
  }
  if (value.includes(MARK)) throw new TypeError('a value holds a NUL character, which no argument can');
  return value;
}

async function createEngine(): Promise<Liquid> {
  const { Liquid } = await import('liquidjs');
  const created = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    ...TEMPLATE_BOUNDS,
    outputEscape: (value: unknown) => (value === null || value === undefined ? '' : `${MARK}${plainText(value)}`),
  });
  for (const tag of Object.keys(created.tags)) if (!TAGS.has(tag)) delete created.tags[tag];
  // A raw filter would insert its value unmarked.
  for (const [name, filter] of Object.entries(created.filters)) {
    if (typeof filter === 'object' && filter.raw) delete created.filters[name];
  }
  return created;
}

type Uses = ReturnType<Liquid['analyzeSync']>['globals'];

function rootsOf(liquid: Liquid, parsed: Template[]): [string, Uses[string]][] {
  return Object.entries(liquid.analyzeSync(parsed).globals);
}

function scopeOf(names: readonly string[], values: JsonObject): JsonObject {
  return Object.fromEntries(names.map((name) => [name, valueOf(values, name)]));
}

function unknownParameter(root: string, names: readonly string[]): string {
  const known =
    names.length > 0 ? `expected one of ${names.map((name) => `"${name}"`).join(', ')}` : 'the tool has none';
  return `"${root}" is no parameter of the tool; ${known}${didYouMean(root, names)}`;
}
