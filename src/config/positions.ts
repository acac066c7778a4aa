// Lines and columns, worked out only when a message needs them.

import { pointerKeys } from './pointer.ts';
import type { Source } from './source.ts';

export interface Position {
  line?: number;
  column?: number;
}

/** Finds the value (or the key) of a JSON pointer; of a value that is missing, the nearest one around it. */
export type FindPosition = (pointer: string, key: boolean) => Position;

/** Reads a text once and answers for any pointer in it; the text was parsed successfully before. */
export function openPositions(source: Source): Promise<FindPosition> {
  return source.format === 'yaml' ? yamlPositions(source.text) : jsonPositions(source.text);
}

/** Line and column, from 1, of an offset in a text. */
export function positionAt(text: string, offset: number): Required<Position> {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

async function jsonPositions(text: string): Promise<FindPosition> {
  const { findNodeAtLocation, parseTree } = await import('jsonc-parser');
  const root = parseTree(text, [], { allowTrailingComma: true });
  return (pointer, key) => {
    for (const { keys, exact } of outwards(pointer)) {
      // jsonc-parser tells an index from a key by its type, a pointer does not.
      const paths = [keys, keys.map((item) => (/^\d+$/.test(item) ? Number(item) : item))];
      const node = root && paths.map((path) => findNodeAtLocation(root, path)).find((found) => found !== undefined);
      if (node === undefined) continue;
      const property = key && exact ? node.parent?.children?.[0] : undefined;
      return positionAt(text, (property ?? node).offset);
    }
    return {};
  };
}

async function yamlPositions(text: string): Promise<FindPosition> {
  const { isAlias, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument } = await import('./yaml.ts');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const step = (node: unknown, name: string): { key: unknown; value: unknown } | undefined => {
    const target = isAlias(node) ? node.resolve(document) : node;
    if (isMap(target)) return target.items.find(({ key }) => isScalar(key) && String(key.value) === name);
    return isCollection(target) ? { key: undefined, value: target.items[Number(name)] } : undefined;
  };
  return (pointer, key) => {
    for (const { keys, exact } of outwards(pointer)) {
      let found: { key: unknown; value: unknown } | undefined = { key: undefined, value: document.contents };
      for (const name of keys) found = found && step(found.value, name);
      const node = key && exact && found?.key ? found.key : found?.value;
      if (!isNode(node) || !node.range) continue;
      const { line, col } = lines.linePos(node.range[0]);
      return { line, column: col };
    }
    return {};
  };
}

/** The pointer's keys, then those of each parent. */
function outwards(pointer: string): { keys: string[]; exact: boolean }[] {
  const keys = pointerKeys(pointer);
  return Array.from({ length: keys.length + 1 }, (_, cut) => ({
    keys: keys.slice(0, keys.length - cut),
    exact: cut === 0,
  }));
}
