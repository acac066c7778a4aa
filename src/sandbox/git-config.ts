const SECTION = /^\s*\[([^\]"]+)(?:"[^\]]*)?\]/gm;
const WORD = /^[A-Za-z0-9-]{1,20}$/;
/** How files are read and written; none of it names a program or a place outside. */
const KEPT_CORE =
  'filemode ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath longpaths abbrev sparsecheckout sparsecheckoutcone'.split(
    ' ',
  );

/**
 * The configuration that tools see instead of the repository's own: format and identity, nothing that runs a program,
 * names a remote or holds a credential. `exclude` is a file with the names of mount points, so that git passes them over.
 */
export function minimalGitConfig(original: string, exclude?: string): string {
  const sha256 = /^\s*objectformat\s*=\s*sha256\s*$/im.test(section(original, 'extensions'));
  const user = section(original, 'user');
  const core = section(original, 'core');
  const worktree = value(core, 'worktree');
  const kept = KEPT_CORE.flatMap((key) => {
    const found = value(core, key);
    return found !== undefined && WORD.test(found) ? [`\t${key} = ${found}`] : [];
  });
  return [
    '[core]',
    `\trepositoryformatversion = ${sha256 ? 1 : 0}`,
    '\tbare = false',
    '\tlogallrefupdates = true',
    ...kept,
    // A submodule's git folder lies elsewhere than its files.
    ...(worktree !== undefined && /^(?:\.\.\/)+[\w./-]+$/.test(worktree) ? [`\tworktree = ${worktree}`] : []),
    ...(exclude === undefined ? [] : [`\texcludesFile = ${exclude}`]),
    ...(sha256 ? ['[extensions]', '\tobjectformat = sha256'] : []),
    '[user]',
    `\tname = ${value(user, 'name') ?? 'agent-run'}`,
    `\temail = ${value(user, 'email') ?? 'agent-run@localhost.invalid'}`,
    '',
  ].join('\n');
}

/** The lines of every section of that name, without sub-sections. */
function section(text: string, name: string): string {
  const heads = [...text.matchAll(SECTION)];
  return heads
    .map((head, index) => ({ head, end: heads[index + 1]?.index ?? text.length }))
    .filter(({ head }) => head[1]?.trim().toLowerCase() === name && !head[0].includes('"'))
    .map(({ head, end }) => text.slice(head.index + head[0].length, end))
    .join('\n');
}

/** A plain value of a key; one that needs quoting is not taken over. */
function value(lines: string, key: string): string | undefined {
  return new RegExp(`^\\s*${key}\\s*=\\s*([^"\\\\;#\\n\\r]{1,200}?)\\s*$`, 'im').exec(lines)?.[1];
}
