import { parseSync } from 'vite';

/** A source file: its path from the repository's root, with forward slashes, and its text. */
export interface Source {
  path: string;
  text: string;
}

export interface ParsedSource extends Source {
  /** What the file imports, statically, dynamically or as a type; undefined where the name is computed. */
  imports: (string | undefined)[];
  /** True for a file that holds nothing but `export ... from`. */
  onlyReExports: boolean;
}

type Node = Record<string, unknown>;

const IMPORTING = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
  'TSExternalModuleReference',
]);

/** Reads the imports of a TypeScript file from its syntax tree; throws when it does not parse. */
export function parseSource({ path, text }: Source): ParsedSource {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const imports: (string | undefined)[] = [];
  visit(program, (node) => {
    if (!IMPORTING.has(String(node['type']))) return;
    const request = node['source'] ?? node['argument'] ?? node['expression'];
    if (request) imports.push(literal(request));
  });
  const onlyReExports =
    program.body.length > 0 &&
    program.body.every(
      (node) =>
        node.type === 'ExportAllDeclaration' || (node.type === 'ExportNamedDeclaration' && node.source !== null),
    );
  return { path, text, imports, onlyReExports };
}

function visit(value: unknown, seen: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, seen);
  } else if (isNode(value)) {
    if (typeof value['type'] === 'string') seen(value);
    for (const child of Object.values(value)) visit(child, seen);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function literal(request: unknown): string | undefined {
  if (!isNode(request)) return undefined;
  if (request['type'] === 'TSLiteralType') return literal(request['literal']);
  return typeof request['value'] === 'string' ? request['value'] : undefined;
}
