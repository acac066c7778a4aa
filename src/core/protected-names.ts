// Paths of a workspace that no wildcard rule grants (security cases, conventions): whoever writes one of them
// steers a later run, another agent or git itself. Any path with a component `.git` belongs to them too.

export const PROTECTED_FILES = [
  '.gitattributes',
  '.gitmodules',
  '.mcp.json',
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
] as const;

export const PROTECTED_FOLDERS = ['.github/workflows', '.github/actions', '.claude', '.codex', '.gemini'] as const;
