import type { JsonValue } from '../core/json.ts';
import type { Source } from './source.ts';

/**
 * The numbers and booleans of a map as they are written, by name: 1.10 and 0123 are no longer that once they are read as
 * numbers. For a text that `parseSource` has taken.
 */
export async function writtenScalars({ text, format }: Source): Promise<ReadonlyMap<string, string>> {
  return format === 'yaml' ? inYaml(text) : inJson(text);
}

async function inYaml(text: string): Promise<ReadonlyMap<string, string>> {
  const { parseDocument } = await import('./yaml.ts');
  const document = parseDocument(text, { prettyErrors: false, stringKeys: true, schema: 'failsafe' });
  const value = document.toJS() as JsonValue; // this schema knows texts, lists and maps
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return new Map(entries.flatMap(([name, item]) => (typeof item === 'string' ? [[name, item] as const] : [])));
}

async function inJson(text: string): Promise<ReadonlyMap<string, string>> {
  const { parseTree } = await import('jsonc-parser');
  const found = new Map<string, string>();
  for (const { children: [key, item] = [] } of parseTree(text, [], { allowTrailingComma: true })?.children ?? []) {
    if (item?.type === 'number' || item?.type === 'boolean')
      found.set(String(key?.value), text.slice(item.offset, item.offset + item.length));
  }
  return found;
}
