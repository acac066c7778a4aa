import { readdir, statSync, type Dirent } from 'node:fs';
import { join } from 'node:path';

/**
 * Regular files that a glob matches, sorted, as paths in the form of the pattern; hidden ones only where it says so. As in
 * a shell a link counts as what it leads to, also one that leads nowhere; but links to folders are not followed.
 */
export async function matchFiles(pattern: string, cwd: string): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  const fs = { readdir: listWithLinks as typeof readdir }; // the one form of it that the walk calls
  const found = await glob(pattern, { cwd, expandDirectories: false, followSymbolicLinks: false, fs });
  return found.sort();
}

type Listed = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;

function listWithLinks(folder: string, options: { withFileTypes: true }, done: Listed): void {
  readdir(folder, options, (error, entries) => {
    const links = error ? [] : entries.filter((entry) => entry.isSymbolicLink());
    for (const link of links) if (!leadsToFolder(join(folder, link.name))) asFile(link);
    done(error, entries);
  });
}

function leadsToFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // ENOENT, ELOOP, EACCES: whoever reads it tells what is wrong with it.
    return false;
  }
}

function asFile(entry: Dirent): void {
  entry.isSymbolicLink = () => false;
  entry.isFile = () => true;
}
