// The tools of a server as they are offered: what it says of them was written by others.

import { headOf } from '../core/graphemes.ts';
import type { McpToolRule } from '../core/mcp.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { compileSchema } from '../core/json-schema.ts';
import type { ToolDefinition } from '../core/messages.ts';
import { didYouMean } from '../core/nearest.ts';
import { modernise } from '../core/offered-schema.ts';
import { showControls } from '../core/sanitise.ts';
import { walkSchema } from '../core/schema-walk.ts';
import type { CheckInput } from './plain-schema.ts';

const MAX_DESCRIPTION = 4000;
const MAX_SCHEMA_BYTES = 64 * 1024;
const SHOWN_ISSUES = 5;
const SHOWN_NAMES = 20;

/** Model services take none of these at the root of a tool's input. */
const ROOT_COMBINERS = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const', '$ref', '$dynamicRef'];

export interface OfferedTool {
  definition: ToolDefinition;
  check: CheckInput;
}

export type Offered = { ok: true; value: OfferedTool } | { ok: false; reason: string };

/** An allowed tool as the server's list describes it, under the name of its rule. */
export async function offerTool(rule: McpToolRule, list: readonly JsonObject[]): Promise<Offered> {
  const listed = list.find(({ name }) => name === rule.tool);
  if (!listed) return { ok: false, reason: missing(rule.tool, list) };
  const schema = listed['inputSchema'];
  const size = JSON.stringify(schema ?? null).length;
  if (!isJsonObject(schema)) return { ok: false, reason: `its tool "${rule.tool}" has no input schema` };
  if (size > MAX_SCHEMA_BYTES) {
    return {
      ok: false,
      reason: `the input schema of its tool "${rule.tool}" has ${size} bytes; the limit is ${MAX_SCHEMA_BYTES}`,
    };
  }
  const input_schema = offeredSchema(schema);
  const compiled = await compileSchema(input_schema, { source: rule.name });
  if (!compiled.ok) {
    const why = compiled.issues.slice(0, 1).map(({ pointer, message }) => `${pointer} ${message}`.trim());
    return { ok: false, reason: `the input schema of its tool "${rule.tool}" does not compile: ${why.join()}` };
  }
  const check: CheckInput = (input) =>
    compiled
      .validate(input)
      .slice(0, SHOWN_ISSUES)
      .map(({ pointer, message }) => (pointer === '' ? message : `${pointer}: ${message}`));
  return { ok: true, value: { definition: { name: rule.name, description: describe(listed), input_schema }, check } };
}

function missing(tool: string, list: readonly JsonObject[]): string {
  const names = list.flatMap(({ name }) => (typeof name === 'string' ? [shown(name, 64)] : []));
  const has = names.length === 0 ? 'it has no tools' : `it has ${names.slice(0, SHOWN_NAMES).join(', ')}`;
  return `it has no tool "${tool}"${didYouMean(tool, names)}; ${has}`;
}

function describe({ description, title }: JsonObject): string {
  const text = typeof description === 'string' && description.trim() !== '' ? description : title;
  return typeof text === 'string' ? shown(text, MAX_DESCRIPTION) : '';
}

/** Nothing unseen, and not endless: a description is read by the model. */
function shown(text: string, most: number): string {
  const clean = showControls(text.length > most ? `${headOf(text, most)}…` : text.toWellFormed());
  return clean.slice(0, 2 * most).toWellFormed();
}

function offeredSchema(schema: JsonObject): JsonObject {
  const offered = modernise(schema);
  for (const keyword of ROOT_COMBINERS) delete offered[keyword];
  for (const { node } of walkSchema(offered)) {
    for (const key of ['description', 'title', '$comment']) {
      const text: JsonValue | undefined = node[key];
      if (typeof text === 'string') node[key] = shown(text, MAX_DESCRIPTION);
    }
  }
  return { ...offered, type: 'object', properties: offered['properties'] ?? {} };
}
