/** Regular files that a glob matches, sorted, as paths in the form of the pattern; hidden ones only where it says so, links to folders are not followed. */
export async function matchFiles(pattern: string, cwd: string): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  const found = await glob(pattern, { cwd, expandDirectories: false, followSymbolicLinks: false });
  return found.sort();
}
