type Pathspecs = { ok: true; specs: string[] } | { ok: false; reason: string };

/** Globs relative to the workspace (`!` excludes) as git takes them; nothing in them is read as git's own magic. */
export function pathspecs(globs: readonly string[]): Pathspecs {
  const specs: string[] = [];
  for (const glob of globs) {
    const excluded = glob.startsWith('!');
    const path = (excluded ? glob.slice(1) : glob).replace(/^(?:\.\/+)+/, '');
    if (path.startsWith('/') || path.split('/').includes('..') || path.includes('\0') || path === '') {
      return { ok: false, reason: `path ${JSON.stringify(glob)}: paths are relative to the workspace and stay inside` };
    }
    specs.push(`:(${excluded ? 'exclude,' : ''}glob)${path}`);
  }
  if (specs.length > 0 && specs.every((spec) => spec.startsWith(':(exclude'))) specs.unshift(':(glob)**');
  return { ok: true, specs };
}
