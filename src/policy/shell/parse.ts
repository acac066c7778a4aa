import type { ParsedScript, SyntaxNode } from 'unbash';
import { refusedNode } from './nodes.ts';

const MAX_DEPTH = 60;

/** The tree of a text, or why it is refused: syntax errors, also in nested scripts, and any construct not known. */
export async function parseShell(text: string): Promise<ParsedScript | { readonly refused: string }> {
  const { forEachChild, parse } = await import('unbash');
  try {
    const script = parse(text);
    const refused = findRefused(script, forEachChild);
    return refused === undefined ? script : { refused };
  } catch (error) {
    // The parser recurses: very deep nesting ends in a RangeError, which is a denial and not a crash.
    if (error instanceof RangeError) return { refused: 'it is nested too deeply' };
    throw error;
  }
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

type EachChild = (node: SyntaxNode, callback: (child: SyntaxNode) => void) => void;

function findRefused(root: SyntaxNode, forEachChild: EachChild): string | undefined {
  const stack: { readonly node: SyntaxNode; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { node, depth } = entry;
    if (node.type === 'Script' && node.errors !== undefined && node.errors.length > 0) {
      return `it is no complete shell program: ${node.errors[0]?.message ?? 'syntax error'}`;
    }
    if (node.type === 'Statement' && node.background === true) return 'a command in the background (&)';
    const refused = refusedNode(node.type);
    if (refused !== undefined) return 'text' in node ? `${refused}: ${shorten(node.text)}` : refused;
    if (depth > MAX_DEPTH) return 'it is nested too deeply';
    forEachChild(node, (child) => stack.push({ node: child, depth: depth + 1 }));
  }
  return undefined;
}
