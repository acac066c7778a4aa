import { headOf } from '../core/graphemes.ts';

const LONGEST = 1000;
const MOST_PATTERNS = 100;
const MOST_ALTERNATIVES = 1000;
const MOST_STARS = 6;
const MOST_GLOBSTARS = 4;

/** Why a list of glob patterns is refused, or undefined: they stay inside the folder and match in bounded time. */
export function patternIssue(patterns: readonly string[]): string | undefined {
  if (patterns.length > MOST_PATTERNS) return `${patterns.length} patterns are more than ${MOST_PATTERNS}`;
  for (const pattern of patterns) {
    const issue = issueOf(pattern);
    if (issue) return `pattern ${JSON.stringify(headOf(pattern, 200))}: ${issue}`;
  }
  return undefined;
}

function issueOf(pattern: string): string | undefined {
  const plain = pattern.replace(/^!/, '').replaceAll('\\', '');
  if (plain === '') return 'it is empty';
  if (pattern.length > LONGEST) return `it has more than ${LONGEST} characters`;
  if (pattern.includes('\0') || !pattern.isWellFormed()) return 'it is not well-formed text';
  if (plain.startsWith('/') || /^[A-Za-z]:/.test(plain)) return 'it is absolute; patterns are relative to the folder';
  if (/(?:^|[/{,])\.\.(?:[/},]|$)/.test(plain)) return 'it leaves the folder with ".."';
  return costIssue(pattern);
}

// Matching is a backtracking regular expression, and both the pattern and the names may come from an attacker.
function costIssue(pattern: string): string | undefined {
  if (alternatives(pattern) > MOST_ALTERNATIVES) return `it has more than ${MOST_ALTERNATIVES} alternatives`;
  const segments = pattern.split('/');
  if (segments.filter((segment) => segment.includes('**')).length > MOST_GLOBSTARS) {
    return `it has more than ${MOST_GLOBSTARS} times "**"`;
  }
  const stars = Math.max(...segments.map((segment) => segment.match(/\*+/g)?.length ?? 0));
  return stars > MOST_STARS ? `a part of it has more than ${MOST_STARS} times "*"` : undefined;
}

/** An upper bound of what the braces of a pattern stand for. */
function alternatives(pattern: string): number {
  let product = 1;
  const open: number[] = [];
  for (const character of pattern) {
    const last = open.length - 1;
    if (character === '{') open.push(1);
    else if (character === ',' && last >= 0) open[last] = (open[last] ?? 0) + 1;
    else if (character === '}' && last >= 0) product *= open.pop() ?? 1;
  }
  return product;
}

/** The pattern with regular expression syntax taken literally: a folder may be called `(group)`. */
export function literalGroups(pattern: string): string {
  return pattern.replaceAll(/(?<!\\)[()|+]/g, '\\$&');
}
