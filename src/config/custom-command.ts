// What a custom tool's command may not leave to the model: which program runs, an option's name, a program's code.

import { basename } from 'node:path';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { bareParameter } from '../core/parameter-template.ts';
import { isTemplate } from '../core/template.ts';
import { type Issue, showValue } from './issues.ts';
import type { CustomToolField } from './task-file.ts';

type Command = Pick<CustomToolField, 'command' | 'stdin'>;

/** Mistakes in the command and input of the tool at `pointer`; `properties` are the declared parameters' schemas. */
export function commandIssues({ command, stdin }: Command, properties: JsonObject, pointer: string): Issue[] {
  const found = command.map((template, index) => {
    const message = argumentMistake(command, index, properties);
    return { pointer: `${pointer}/command/${index}`, message: message && `found ${showValue(template)}, ${message}` };
  });
  const message = stdin === undefined ? undefined : inputMistake(command, stdin, properties);
  const all = [...found, { pointer: `${pointer}/stdin`, message: message && `found ${showValue(stdin)}, ${message}` }];
  return all.flatMap((issue) => (issue.message === undefined ? [] : [{ ...issue, message: issue.message }]));
}

function argumentMistake(command: readonly string[], index: number, properties: JsonObject): string | undefined {
  const template = command[index] ?? '';
  if (template.includes('\0')) return 'expected an argument without a NUL character';
  if (!isTemplate(template)) return undefined;
  if (index === 0) return 'expected the name of a program: the task decides which one runs, not the model';
  if (nameOfOption(template, properties)) {
    return 'expected an option that is written in full, its value in an argument of its own or behind "=": a value never becomes an option';
  }
  const program = codeReader(command, index);
  if (program !== undefined) return codeMessage(program);
  return shapeMistake(template, properties, bareParameter(template));
}

function inputMistake(command: readonly string[], stdin: string, properties: JsonObject): string | undefined {
  const at = command.findIndex(isInterpreter);
  const reads = at >= 0 && command.slice(at + 1).every((argument) => argument.startsWith('-'));
  if (reads && isTemplate(stdin)) return codeMessage(command[at] ?? '');
  return shapeMistake(stdin, properties);
}

const BEHIND_OPTION = /^(-[\w-]*)\{\{-?\s*([A-Za-z_][\w-]*?)?\s*(?:\||-?\}\})/;

/** `--{{ x }}`, `-f{{ x }}`, `--no{{ x }}`; behind one letter a whole number is no more than a count. */
function nameOfOption(template: string, properties: JsonObject): boolean {
  const match = BEHIND_OPTION.exec(template);
  if (!match) return false;
  const [, option = '', name = ''] = match;
  return !(/^-[A-Za-z]$/.test(option) && typeOf(properties, name) === 'integer');
}

const SHELL = /^(?:ba|da|z|k|a|fi|c|tc)?sh$/;
const INTERPRETER = /^(?:python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|bun|php|lua[\d.]*)$/;
const SHELL_CODE = /^-[A-Za-z]*c[A-Za-z]*$|^--command$/;
const CODE = /^-[A-Za-z]*[ceEpr]$|^--(?:eval|print)$/;
const CODE_ATTACHED = /^--(?:command|eval|print)=/;

function isInterpreter(argument: string): boolean {
  return SHELL.test(basename(argument)) || INTERPRETER.test(basename(argument));
}

/** The shell or interpreter that would take the argument for code. */
function codeReader(command: readonly string[], index: number): string | undefined {
  let at = index - 1;
  // What stands between a program and its code are options, and the name behind -o.
  while (at > 0 && (command[at]?.startsWith('-') || /^[-+][A-Za-z]*o$/.test(command[at - 1] ?? ''))) at -= 1;
  const program = command[at] ?? '';
  if (!isInterpreter(program)) return undefined;
  const option = command[index - 1] ?? '';
  const code = SHELL.test(basename(program)) ? SHELL_CODE : CODE;
  return (at < index - 1 && code.test(option)) || CODE_ATTACHED.test(command[index] ?? '') ? program : undefined;
}

function codeMessage(program: string): string {
  const how = SHELL.test(basename(program))
    ? `give it as an argument behind the code, for example ["sh", "-c", "grep -- \\"$1\\" log.txt", "sh", "{{ text }}"]`
    : 'give it as an argument behind the code';
  return `expected code without templates: "${program}" would run the value as code; ${how}`;
}

const OUTPUTS = /\{\{-?\s*([A-Za-z_][\w-]*?)\s*-?\}\}/g;

/** A list or an object where a text belongs. */
function shapeMistake(template: string, properties: JsonObject, spread?: string): string | undefined {
  for (const [, name = ''] of template.matchAll(OUTPUTS)) {
    const type = typeOf(properties, name);
    if (type === 'object') return `where "${name}" is an object: expected {{ ${name} | json }}`;
    if (type === 'array' && name !== spread) {
      return `where "${name}" is a list: expected {{ ${name} }} as a whole argument, which becomes one for each item, or {{ ${name} | join: "," }}`;
    }
  }
  return undefined;
}

function typeOf(properties: JsonObject, name: string): unknown {
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isJsonObject(schema) ? schema['type'] : undefined;
}
