import type { SkillConfig } from '../core/config.ts';
import type { JsonObject } from '../core/json.ts';
import { didYouMean } from '../core/nearest.ts';
import { SKILL_TOOL, type Tool, type ToolOutput } from '../core/ports.ts';
import { cutResult, errorResult, textField } from './result.ts';

/** Hands out what the task's skills say, one at a time. */
export function createSkillTool(skills: readonly SkillConfig[]): Tool {
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return {
    definition: {
      name: SKILL_TOOL,
      description: `Loads a skill: instructions for one kind of work. Before work that a description fits, load that skill and follow it. file reads another file of the skill. Skills:\n${list}`,
      input_schema: {
        type: 'object',
        properties: { name: { type: 'string' }, file: { type: 'string' } },
        required: ['name'],
        additionalProperties: false,
      },
    },
    async execute({ input }, plan, context) {
      if (plan.kind !== 'call') throw new Error(`skill cannot run a plan of kind ${plan.kind}`);
      const found = contentOf(skills, input);
      return typeof found === 'string' ? cutResult('ok', found, context) : found;
    },
  };
}

function contentOf(skills: readonly SkillConfig[], input: JsonObject): string | ToolOutput {
  const name = textField(input, 'name') ?? '';
  const file = textField(input, 'file');
  const skill = skills.find((one) => one.name === name);
  if (!skill) {
    const names = skills.map((one) => one.name);
    return errorResult(`there is no skill "${name}"${didYouMean(name, names)}; skills: ${names.join(', ')}`);
  }
  return file === undefined || file === '' ? bodyOf(skill) : fileOf(skill, file);
}

function bodyOf({ body, files, binary }: SkillConfig): string {
  const others = [...files.map(({ path }) => path), ...binary.map((path) => `${path} (no text)`)];
  const note = others.length === 0 ? '' : `\n\n[other files of this skill: ${others.join(', ')}]`;
  return `${body}${note}`;
}

function fileOf({ name, files, binary }: SkillConfig, wanted: string): string | ToolOutput {
  const path = wanted.replace(/^(?:\.\/)+/, '');
  const file = files.find((one) => one.path === path);
  if (file) return file.text;
  if (binary.includes(path)) return errorResult(`${path} of the skill "${name}" is not UTF-8 text`);
  const paths = files.map((one) => one.path);
  const has = paths.length === 0 ? 'it has no other files' : `it has ${paths.join(', ')}`;
  return errorResult(`the skill "${name}" has no file "${wanted}"${didYouMean(path, paths)}; ${has}`);
}
