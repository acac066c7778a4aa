const SECTION = /^\s*\[([^\]"]+)(?:"[^\]]*)?\]/gm;

/**
 * The configuration that tools see instead of the repository's own: format and identity, nothing that runs a program,
 * names a remote or holds a credential.
 */
export function minimalGitConfig(original: string): string {
  const sha256 = /^\s*objectformat\s*=\s*sha256\s*$/im.test(section(original, 'extensions'));
  const user = section(original, 'user');
  return [
    '[core]',
    `\trepositoryformatversion = ${sha256 ? 1 : 0}`,
    '\tfilemode = true',
    '\tbare = false',
    '\tlogallrefupdates = true',
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
