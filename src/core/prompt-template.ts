// Templates of what is said to a model. What they say depends on their variables alone: the same in a replay.

import type { Liquid } from 'liquidjs';
import { didYouMean } from './nearest.ts';
import { describeTemplateError, FILE_TAGS, isTemplate, TEMPLATE_BOUNDS } from './template.ts';
import type { TemplateError } from './template.ts';

/** Renders with values that have every variable; throws what Liquid throws. */
export type RenderPrompt = (values: object) => string;

export type CompiledPrompt = { ok: true; render: RenderPrompt } | { ok: false; error: TemplateError };

// They read the clock, the time zone or chance.
const UNSTEADY = /^(?:date.*|sample)$/;

let engine: Liquid | undefined;

/** A template over the named variables, or its first mistake, looked for in every branch; a text without any is itself. */
export async function compilePrompt(text: string, names: readonly string[]): Promise<CompiledPrompt> {
  if (!isTemplate(text)) return { ok: true, render: () => text.trim() };
  engine ??= await createEngine();
  const liquid = engine;
  try {
    const parsed = liquid.parse(text);
    for (const [root, [use]] of Object.entries(liquid.analyzeSync(parsed).globals)) {
      if (names.includes(root)) continue;
      const { row = 1, col = 1 } = use?.location ?? {};
      return { ok: false, error: { message: unknown(root, names), line: row, column: col } };
    }
    return { ok: true, render: (values) => String(liquid.renderSync(parsed, values)).trim() };
  } catch (error) {
    // Liquid throws for every mistake in a template.
    return { ok: false, error: describeTemplateError(error) };
  }
}

/** The first mistake in a template, found by rendering it with each of the samples. */
export async function findPromptMistake(text: string, samples: readonly object[]): Promise<TemplateError | undefined> {
  const compiled = await compilePrompt(text, Object.keys(samples[0] ?? {}));
  if (!compiled.ok) return compiled.error;
  try {
    for (const sample of samples) {
      if (compiled.render(sample) !== '') continue;
      const values = JSON.stringify(sample);
      return { message: `it says nothing with ${values}; a model is sent no empty text`, line: 1, column: 1 };
    }
    return undefined;
  } catch (error) {
    // As above: a property that no value has, more work than the bounds allow.
    return describeTemplateError(error);
  }
}

function unknown(name: string, names: readonly string[]): string {
  const known =
    names.length > 0 ? `expected one of ${names.map((item) => `"${item}"`).join(', ')}` : 'this prompt has none';
  return `"${name}" is no variable of this prompt; ${known}${didYouMean(name, names)}`;
}

async function createEngine(): Promise<Liquid> {
  const { Liquid } = await import('liquidjs');
  const created = new Liquid({ strictVariables: true, strictFilters: true, ownPropertyOnly: true, ...TEMPLATE_BOUNDS });
  for (const tag of FILE_TAGS) delete created.tags[tag];
  for (const filter of Object.keys(created.filters)) if (UNSTEADY.test(filter)) delete created.filters[filter];
  return created;
}
