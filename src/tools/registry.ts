import { headOf } from '../core/graphemes.ts';
import { UsageError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import type { ToolDefinition } from '../core/messages.ts';
import { didYouMean } from '../core/nearest.ts';
import type { ParsedInput, Tool, ToolRegistry } from '../core/ports.ts';
import { type CheckInput, plainTool } from './plain-schema.ts';
import { parseStrict } from './strict-json.ts';

const MAX_INPUT_BYTES = 1_000_000;

/**
 * Tools by name, with their definitions in the order given. Tools whose schema says more than our own do need a checker
 * in `checkers`, compiled by the caller. Two tools of one name are a UsageError.
 */
export function createRegistry(
  tools: readonly Tool[],
  checkers: ReadonlyMap<string, CheckInput> = new Map(),
): ToolRegistry {
  const entries = new Map<string, Entry>();
  for (const tool of tools) {
    const { name } = tool.definition;
    if (entries.has(name)) throw new UsageError(`two tools are called "${name}"; rename one of them`);
    entries.set(name, entryOf(tool, checkers.get(name)));
  }
  return {
    definitions: [...entries.values()].map(({ definition }) => definition),
    get: (name) => entries.get(name)?.tool,
    parse(name, input_json) {
      const entry = entries.get(name);
      return entry ? parseInput(name, input_json, entry) : unknownTool(name, [...entries.keys()]);
    },
  };
}

interface Entry {
  tool: Tool;
  /** As it is sent. */
  definition: ToolDefinition;
  check: CheckInput;
  withoutNulls: (input: JsonObject) => JsonObject;
}

/** A schema of the user's goes out as it is written. */
function entryOf(tool: Tool, check: CheckInput | undefined): Entry {
  const { definition } = tool;
  if (check) return { tool, definition, check, withoutNulls: (input) => input };
  const plain = plainTool(definition.input_schema);
  if (!plain) throw new Error(`no checker for the schema of tool "${definition.name}"`);
  return { tool, definition: { ...definition, input_schema: plain.sent }, ...plain };
}

function unknownTool(name: string, names: readonly string[]): ParsedInput {
  const offered = names.length > 0 ? `tools: ${names.join(', ')}` : 'there are no tools';
  return {
    ok: false,
    error: `there is no tool ${JSON.stringify(headOf(name, 100))}${didYouMean(name, names)}; ${offered}`,
  };
}

/** Some services send no arguments at all, or null, for a call without parameters. */
function parseInput(name: string, input_json: string, { check, withoutNulls }: Entry): ParsedInput {
  const bytes = Buffer.byteLength(input_json);
  if (bytes > MAX_INPUT_BYTES) return refuse(name, `it has ${bytes} bytes; the limit is ${MAX_INPUT_BYTES}`);
  const text = input_json.trim();
  const parsed = text === '' || text === 'null' ? ({ ok: true, value: {} } as const) : parseStrict(text);
  if (!parsed.ok) return refuse(name, `it is not valid JSON for a call: ${parsed.error}`);
  if (!isJsonObject(parsed.value)) return refuse(name, 'it is not a JSON object');
  const input = withoutNulls(parsed.value);
  const problems = check(input);
  return problems.length > 0 ? refuse(name, problems.join('; ')) : { ok: true, input };
}

function refuse(name: string, why: string): ParsedInput {
  return { ok: false, error: `the input of ${name} was not accepted: ${why}` };
}
