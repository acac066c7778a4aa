// A custom tool's call becomes an argument list here: the task wrote the command, the model only gave the parameters.

import { headOf } from '../core/graphemes.ts';
import type { CustomToolConfig } from '../core/config.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import {
  bareParameter,
  type ParameterRendering,
  plainText,
  renderParameters,
  valueOf,
} from '../core/parameter-template.ts';
import type { Decision } from './decision.ts';

type Built<T> = { ok: true; value: T } | { ok: false; reason: string };

/** The plan of a call: its argument list and input. A value that would be an option, or no argument at all, is denied. */
export async function judgeCustom(tool: CustomToolConfig, input: JsonObject): Promise<Decision> {
  const rule = `custom_tools ${tool.name}`;
  const names = parametersOf(tool);
  const argv = await buildCommand(tool, names, input);
  if (!argv.ok) return { ok: false, reason: `${tool.name}: ${argv.reason}`, rule };
  const plan = { kind: 'argv', effect: tool.effect, argv: argv.value } as const;
  if (tool.stdin === undefined) return { ok: true, plan, rule };
  const stdin = await renderParameters(tool.stdin, names, input);
  if (!stdin.ok) return { ok: false, reason: `${tool.name}: its input cannot be made: ${stdin.reason}`, rule };
  return { ok: true, plan: { ...plan, stdin: stdin.text }, rule };
}

function parametersOf({ input_schema }: CustomToolConfig): string[] {
  const { properties } = input_schema;
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

async function buildCommand(
  { command }: CustomToolConfig,
  names: readonly string[],
  input: JsonObject,
): Promise<Built<string[]>> {
  const argv: string[] = [];
  for (const template of command) {
    const built = await buildArguments(template, names, input);
    if (!built.ok) return { ok: false, reason: `the argument ${template} cannot be made: ${built.reason}` };
    argv.push(...built.value);
  }
  return { ok: true, value: argv };
}

/** What one element of the command becomes: one argument, none when nothing was given, one for each item of a list. */
async function buildArguments(template: string, names: readonly string[], input: JsonObject): Promise<Built<string[]>> {
  const bare = bareParameter(template);
  const items = bare === undefined ? null : valueOf(input, bare);
  if (Array.isArray(items)) return spread(items);
  const rendered = await renderParameters(template, names, input);
  if (!rendered.ok) return rendered;
  const reason = optionReason(rendered);
  if (reason !== undefined) return { ok: false, reason };
  return { ok: true, value: isNothing(template, rendered) ? [] : [rendered.text] };
}

function spread(items: readonly unknown[]): Built<string[]> {
  const value: string[] = [];
  for (const item of items) {
    if (item === null || typeof item === 'object')
      return { ok: false, reason: 'its list holds more than plain values' };
    if (typeof item === 'string' && item.includes('\0')) return { ok: false, reason: 'a value holds a NUL character' };
    const text = plainText(item).toWellFormed();
    const reason = optionReason({ text, value_at: 0 });
    if (reason !== undefined) return { ok: false, reason };
    value.push(text);
  }
  return { ok: true, value };
}

type Rendered = Extract<ParameterRendering, { ok: true }>;

/** An empty argument means something to most programs, so it is given only when the call or the task says so. */
function isNothing(template: string, { text, value_at, absent }: Rendered): boolean {
  return template !== '' && text === '' && (value_at === null || absent);
}

// Behind the task's own `-n` digits are a count; anything else could be more options in the same word.
const COUNT = /^-[A-Za-z]\d+$/;
const COUNT_AT = 2;

/** Why a value would become an option or part of its name. */
function optionReason({ text, value_at }: Pick<Rendered, 'text' | 'value_at'>): string | undefined {
  if (value_at === null || !text.startsWith('-')) return undefined;
  if (!/^[\w-]*$/.test(text.slice(0, value_at))) return undefined;
  if (value_at === COUNT_AT && COUNT.test(text)) return undefined;
  const shown = JSON.stringify(text.length > 60 ? `${headOf(text, 60)}…` : text);
  return `it would be ${shown}, and a value never becomes an option; give a value that does not begin with "-" (a file as "./-name")`;
}
