// Custom tools with their defaults. Every mistake that a call would meet later is found here, where it has a place.

import type { BuiltinToolName, CustomToolConfig, ServerToolConfig } from '../core/config.ts';
import { compileSchema } from '../core/json-schema.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { findParameterMistake } from '../core/parameter-template.ts';
import { SKILL_TOOL, SUBMIT_TOOL } from '../core/ports.ts';
import type { Building } from './building.ts';
import { commandIssues } from './custom-command.ts';
import { type Issue, showValue } from './issues.ts';
import { pointerTo } from './pointer.ts';
import type { CustomToolField } from './task-file.ts';
import { callLimits } from './tools.ts';

export async function buildCustomTools(building: Building): Promise<CustomToolConfig[]> {
  const fields = building.task.custom_tools ?? [];
  for (const [index, field] of fields.entries()) {
    const pointer = `/custom_tools/${index}`;
    const { properties } = field.input_schema;
    const parameters = isJsonObject(properties) ? properties : {};
    building.issues.push(
      ...nameIssues(fields, index),
      ...skillIssues(building, index),
      ...(await schemaIssues(field, `${pointer}/input_schema`)),
      ...(await templateIssues(field, Object.keys(parameters), pointer)),
      ...commandIssues(field, parameters, pointer),
    );
  }
  return fields.map(toConfig);
}

function toConfig(field: CustomToolField): CustomToolConfig {
  const { name, description, input_schema, command, stdin, effect = 'write', ok_exit_codes = [0], ...call } = field;
  const input = stdin === undefined ? {} : { stdin };
  return { name, description, input_schema, command, ...input, effect, ok_exit_codes, ...callLimits(call) };
}

const BUILTIN: Record<BuiltinToolName | ServerToolConfig['name'], true> = {
  read_file: true,
  glob: true,
  grep: true,
  write_file: true,
  edit_file: true,
  bash: true,
  git: true,
  web_search: true,
  web_fetch: true,
};

function nameIssues(fields: readonly CustomToolField[], index: number): Issue[] {
  const name = fields[index]?.name ?? '';
  const message = nameMistake(
    name,
    fields.slice(0, index).map((field) => field.name),
  );
  if (message === undefined) return [];
  return [{ pointer: `/custom_tools/${index}/name`, message: `found ${showValue(name)}, ${message}` }];
}

function skillIssues({ task }: Building, index: number): Issue[] {
  const name = task.custom_tools?.[index]?.name;
  if (name !== SKILL_TOOL || (task.skills ?? []).length === 0) return [];
  const message = `found ${showValue(name)}, expected another name: the tool that loads skills is called so`;
  return [{ pointer: `/custom_tools/${index}/name`, message }];
}

function nameMistake(name: string, earlier: readonly string[]): string | undefined {
  if (Object.hasOwn(BUILTIN, name)) return 'expected another name: a built-in tool is called so';
  if (name === SUBMIT_TOOL) return 'expected another name: the tool that takes the output is called so';
  if (name.startsWith('mcp__')) return 'expected a name that does not begin with "mcp__", as tools of MCP servers do';
  if (earlier.includes(name)) return `expected another name: custom_tools[${earlier.indexOf(name)}] is called so`;
  return undefined;
}

/** Model services take a plain object here, with plain names. */
const COMBINERS = ['allOf', 'anyOf', 'oneOf', '$ref', '$dynamicRef', 'not', 'enum', 'const'];
const PROPERTY = /^[\w.-]{1,64}$/;

async function schemaIssues({ name, input_schema }: CustomToolField, pointer: string): Promise<Issue[]> {
  const compiled = await compileSchema(input_schema, { source: `the input_schema of ${name}` });
  const broken = compiled.ok ? [] : compiled.issues;
  return [
    ...broken.map((issue) => ({
      pointer: `${pointer}${issue.pointer}`,
      message: `the input_schema of the tool "${name}" does not compile: ${issue.message}`,
    })),
    ...rootIssues(input_schema, pointer),
  ];
}

function rootIssues(schema: JsonObject, pointer: string): Issue[] {
  const combined = COMBINERS.filter((keyword) => Object.hasOwn(schema, keyword)).map((keyword): Issue => {
    const message = `found "${keyword}", expected an object schema without it: model services do not take it at the root of a tool's input`;
    return { pointer: pointerTo(pointer, keyword), at: 'key', message };
  });
  const properties = isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const unnamed = properties
    .filter((name) => !PROPERTY.test(name))
    .map((name): Issue => {
      const message = `found the parameter ${showValue(name)}, expected a name of letters, digits, "_", "." and "-", at most 64`;
      return { pointer: pointerTo(`${pointer}/properties`, name), at: 'key', message };
    });
  return [...combined, ...unnamed];
}

async function templateIssues(
  { command, stdin }: CustomToolField,
  names: readonly string[],
  pointer: string,
): Promise<Issue[]> {
  const templates = command.map((text, index): [string, string] => [`${pointer}/command/${index}`, text]);
  if (stdin !== undefined) templates.push([`${pointer}/stdin`, stdin]);
  const issues: Issue[] = [];
  for (const [at, text] of templates) {
    const mistake = await findParameterMistake(text, names);
    if (!mistake) continue;
    const { message, line, column } = mistake;
    issues.push({ pointer: at, message: `${message} (line ${line}, column ${column} of the text)` });
  }
  return issues;
}
