import { createRequire } from 'node:module';
import { isJsonObject } from '../../src/core/json.ts';

const definitions: unknown = createRequire(import.meta.url)('@octokit/webhooks-examples');

/** Payloads that GitHub once sent, by the name of their event. */
export const WEBHOOKS: ReadonlyMap<string, readonly object[]> = new Map(
  (Array.isArray(definitions) ? definitions : []).flatMap((definition: unknown) => {
    if (!isJsonObject(definition) || typeof definition['name'] !== 'string') return [];
    const examples = Array.isArray(definition['examples']) ? definition['examples'].filter(isJsonObject) : [];
    return [[definition['name'], examples] as const];
  }),
);

/** The first payload of an event, to be changed by who asked for it. */
export function webhook(name: string): Record<string, unknown> {
  const [first] = WEBHOOKS.get(name) ?? [];
  if (first === undefined) throw new Error(`there is no payload of the event ${name}`);
  return { ...structuredClone(first) };
}
