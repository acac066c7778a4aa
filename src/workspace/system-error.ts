const TEXTS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its links lead in a circle, or a part of it became a link',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'no space is left on the disk',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
};

/** The code of an operating system error, else undefined. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return error.code;
}

/** What an operating system error means for the caller; anything else is a bug and is thrown again. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  if (code === undefined || code.startsWith('ERR_')) throw error;
  return TEXTS[code] ?? `the system says ${code}`;
}
