// `schema [NAME]`: the formats of the files we read and write.

import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';

const SCHEMAS: Record<string, () => Promise<{ default: unknown }>> = {
  task: () => import('../../schemas/task.schema.json', { with: { type: 'json' } }),
  script: () => import('../../schemas/script.schema.json', { with: { type: 'json' } }),
  transcript: () => import('../../schemas/transcript.schema.json', { with: { type: 'json' } }),
  result: () => import('../../schemas/result.schema.json', { with: { type: 'json' } }),
  usage: () => import('../../schemas/usage.schema.json', { with: { type: 'json' } }),
  diff: () => import('../../schemas/diff.schema.json', { with: { type: 'json' } }),
  batch: () => import('../../schemas/batch.schema.json', { with: { type: 'json' } }),
  row: () => import('../../schemas/row.schema.json', { with: { type: 'json' } }),
  report: () => import('../../schemas/report.schema.json', { with: { type: 'json' } }),
};

export const SCHEMA_NAMES = Object.keys(SCHEMAS);

/** The text of a schema, or the names of all, one a line; throws UsageError for an unknown name. */
export async function schemaText(name: string | undefined): Promise<string> {
  const names = SCHEMA_NAMES;
  if (name === undefined) return `${names.join('\n')}\n`;
  const load = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (!load) {
    const list = names.map((item) => `"${item}"`).join(', ');
    throw new UsageError(
      `found the unknown schema ${JSON.stringify(name)}, expected one of ${list}${didYouMean(name, names)}`,
    );
  }
  return `${JSON.stringify((await load()).default, null, 2)}\n`;
}
