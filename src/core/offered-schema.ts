import type { JsonObject } from './json.ts';
import { walkSchema } from './schema-walk.ts';

/**
 * A copy of a schema as it is offered to a model: services read 2020-12, so it says there what older drafts say
 * otherwise. The user's own schema still decides.
 */
export function modernise(schema: JsonObject): JsonObject {
  const copy = structuredClone(schema);
  const id = copy['$id'];
  delete copy['$schema'];
  delete copy['$id'];
  for (const { node } of walkSchema(copy)) {
    const reference = node['$ref'];
    if (typeof id === 'string' && typeof reference === 'string' && reference.startsWith(`${id}#`)) {
      node['$ref'] = reference.slice(id.length);
    }
    if (!Array.isArray(node['items'])) continue;
    node['prefixItems'] = node['items'];
    delete node['items'];
    if (node['additionalItems'] !== undefined) node['items'] = node['additionalItems'];
    delete node['additionalItems'];
  }
  return copy;
}
