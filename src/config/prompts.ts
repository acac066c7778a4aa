// Texts that a task says to a model in place of ours.

import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { isPromptName, PROMPTS } from '../core/prompt-names.ts';
import { findPromptMistake } from '../core/prompt-template.ts';
import { type Building, namedBy, readNamed } from './building.ts';
import { pointerTo } from './pointer.ts';
import type { TaskConfig } from '../core/config.ts';
import type { TextField } from './task-file.ts';

/** The templates as they are written, each tried with every sample of its variables. */
export async function buildPromptTemplates(building: Building): Promise<Pick<TaskConfig, 'prompt_templates'>> {
  const templates: Record<string, string> = {};
  for (const [name, field] of Object.entries(building.task.prompts ?? {})) {
    const template = await buildTemplate(building, name, field);
    if (template !== undefined) templates[name] = template;
  }
  return Object.keys(templates).length === 0 ? {} : { prompt_templates: templates };
}

async function buildTemplate(building: Building, name: string, field: TextField): Promise<string | undefined> {
  const pointer = pointerTo('/prompts', name);
  if (!isPromptName(name)) {
    const names = Object.keys(PROMPTS);
    const known = `expected one of ${names.map((item) => `"${item}"`).join(', ')}${didYouMean(name, names)}`;
    building.issues.push({ pointer, at: 'key', message: `found the unknown prompt "${name}", ${known}` });
    return undefined;
  }
  const source = typeof field === 'string' ? undefined : await readNamed(building, field.file, `${pointer}/file`);
  const text = typeof field === 'string' ? field : source?.text;
  if (text === undefined) return undefined;
  const mistake = await findPromptMistake(text, PROMPTS[name].samples);
  if (!mistake) return text;
  const { message, line, column } = mistake;
  if (source) {
    const by = await namedBy(building, `${pointer}/file`);
    throw new UsageError(`${message}${by}`, { place: { file: source.file, line, column } });
  }
  building.issues.push({ pointer, message: `${message} (line ${line}, column ${column} of the text)` });
  return undefined;
}
