import picomatch from 'picomatch';

/** Which of a list of globs decided about a path. */
export interface GlobMatch {
  /** The pattern as written: the one that admits the path, or the exclusion (with its `!`) that takes it out. */
  pattern: string;
  included: boolean;
  /** The pattern is the path itself, without any wildcard. */
  exact: boolean;
}

/** The match that decides about a path relative to the workspace; undefined when no pattern speaks of it. */
export type GlobSet = (path: string) => GlobMatch | undefined;

// `s`: a file name may hold a line break, and an exclusion must not be dodged by one.
const OPTIONS = { dot: true, nonegate: true, strictSlashes: true, flags: 's' } as const;
const ANY_CASE = { ...OPTIONS, flags: 'is' } as const;
/** What picomatch makes of a pattern that is no regular expression. */
const NOTHING = '$^';
const LONGEST = 1000;

/** True for a pattern that names one path and nothing else. */
export function isLiteral(pattern: string): boolean {
  return !/[*?[\]{}()!]/.test(pattern);
}

/** A pattern without its leading `./`, so that "./src/**" and "src/**" say the same. */
export function trimGlob(pattern: string): string {
  return pattern.replace(/^(?:\.\/+)+/, '');
}

/** The regular expression of a glob on paths with `/`, names with a leading dot included; undefined for an unusable one. */
export function globRegExp(pattern: string, options: { anyCase: boolean } = { anyCase: false }): RegExp | undefined {
  if (pattern === '' || pattern.length > LONGEST || pattern.includes('\0')) return undefined;
  const made = picomatch.makeRe(trimGlob(pattern), options.anyCase ? ANY_CASE : OPTIONS);
  return made.source === NOTHING ? undefined : made;
}

/** Compiles a list of globs: `!` excludes and wins whatever its place; an exclusion compares without case. */
export function compileGlobs(patterns: readonly string[]): GlobSet {
  const excludes = patterns.filter((pattern) => pattern.startsWith('!')).map(compileExclude);
  const includes = patterns.filter((pattern) => !pattern.startsWith('!')).map(compileInclude);
  return (path) => first(excludes, path) ?? best(includes, path);
}

function compileInclude(pattern: string): GlobSet {
  const literal = trimGlob(pattern);
  const regExp = globRegExp(pattern);
  return (path) => {
    // A path may hold brackets ("app/[id]/page.tsx"), so equality counts beside the glob's own reading.
    if (path === literal) return { pattern, included: true, exact: isLiteral(literal) };
    return regExp?.test(path) ? { pattern, included: true, exact: false } : undefined;
  };
}

function compileExclude(pattern: string): GlobSet {
  const literal = trimGlob(pattern.slice(1));
  const regExp = globRegExp(literal, { anyCase: true });
  return (path) => {
    const hit = path.toLowerCase() === literal.toLowerCase() || regExp?.test(path);
    return hit ? { pattern, included: false, exact: false } : undefined;
  };
}

function first(matchers: readonly GlobSet[], path: string): GlobMatch | undefined {
  for (const matcher of matchers) {
    const match = matcher(path);
    if (match) return match;
  }
  return undefined;
}

/** An exact pattern grants more than a wildcard, so it is preferred whatever the order. */
function best(matchers: readonly GlobSet[], path: string): GlobMatch | undefined {
  const matches = matchers.map((matcher) => matcher(path)).filter((match) => match !== undefined);
  return matches.find((match) => match.exact) ?? matches[0];
}
