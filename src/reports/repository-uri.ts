/**
 * The path of a finding as a relative URI below the workspace, or null when it lies outside. The path is the model's
 * word: it may be absolute, hold `..`, or look like a URL, and must come out as a path in every case.
 */
export function repositoryUri(path: string, workspace: string): string | null {
  const plain = path.toWellFormed().replaceAll('\\', '/');
  const root = `${workspace.replaceAll('\\', '/').replace(/\/+$/, '')}/`;
  const inside = root !== '/' && plain.startsWith(root) ? plain.slice(root.length) : plain;
  if (inside.startsWith('/') || /^[A-Za-z]:\//.test(inside)) return null;
  const parts = inside.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.includes('..')) return null;
  return parts.map(encodeURIComponent).join('/');
}
