import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Every page people read, by path below the repository. */
export const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/*/README.md'], { cwd: ROOT }).sort();

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

export interface Fence {
  page: string;
  /** First line of the block's text, from 1. */
  line: number;
  language: string;
  text: string;
}

/** All fenced blocks of all pages. */
export function fences(): Fence[] {
  return PAGES.flatMap((page) => {
    const text = readText(page);
    return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map((match) => ({
      page,
      line: text.slice(0, match.index).split('\n').length + 1,
      language: match[1] ?? '',
      text: match[2] ?? '',
    }));
  });
}
