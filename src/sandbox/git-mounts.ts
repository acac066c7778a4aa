import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { close, cover, kindOf, pin } from './layer.ts';
import type { Layer } from './layer.ts';

/** Files of ours that stand in for git's own. */
export interface GitCovers {
  /** The minimal configuration for the git folder at a path. */
  config(git: string): string;
  /** A `commondir` that names the folder itself. */
  commondir: string;
}

export interface GitMountOptions {
  workspace: string;
  /** Whether the whole workspace can be written. */
  writable: boolean;
  git_write: boolean;
  /** Git folders further down: of other checkouts. */
  nested: readonly string[];
  covers: GitCovers;
}

/** Parts of a writable git folder through which a later git call could be made to run something. */
const HELPERS = ['hooks', 'info', 'modules'];
/** Files of a git folder that may hold a credential. */
const CREDENTIALS = /^(?:config\.worktree|\.?(?:git-)?credentials?.*)$/;

/** Shows the git folders of a workspace without what names a program, a remote or a credential. */
export function mountGit(layer: Layer, options: GitMountOptions): void {
  const { workspace, writable, nested } = options;
  const git = join(workspace, '.git');
  const found = kindOf(git);
  if (found === 'folder') mountFolder(layer, git, options);
  else if (found !== 'absent' || writable) close(layer, workspace, git, 'folder');
  if (found === 'other') mountPointed(layer, git, options);
  for (const folder of nested) mountFolder(layer, folder, { ...options, git_write: false });
}

function mountFolder(layer: Layer, git: string, { workspace, writable, git_write, covers }: GitMountOptions): void {
  const root = writable ? workspace : git;
  if (git_write) pin(layer, root, git);
  else close(layer, root, git, 'folder');
  if (git_write) {
    for (const name of HELPERS) close(layer, root, join(git, name), 'folder');
    if (kindOf(join(git, 'commondir')) === 'absent') cover(layer, root, join(git, 'commondir'), covers.commondir);
    if (kindOf(join(git, 'config.worktree')) === 'absent')
      cover(layer, root, join(git, 'config.worktree'), layer.empty.file);
  }
  hideSecrets(layer, git, covers);
}

/** A worktree or a submodule: its git folder lies elsewhere, and is shown read-only. */
function mountPointed(layer: Layer, file: string, { workspace, covers }: GitMountOptions): void {
  const target = /^gitdir: (.+)$/m.exec(readText(file))?.[1];
  if (target === undefined) return;
  const own = resolve(workspace, target);
  const common = resolve(own, readText(join(own, 'commondir')).trim());
  // Whatever the file says, only what is a git folder is shown.
  const isGit = kindOf(join(own, 'HEAD')) === 'other' && kindOf(join(common, 'objects')) === 'folder';
  if (!isGit || common === workspace || common.startsWith(`${workspace}/`)) return;
  layer.args.push('--ro-bind', common, common);
  if (!own.startsWith(`${common}/`) && own !== common) layer.args.push('--ro-bind', own, own);
  hideSecrets(layer, common, covers);
  if (own !== common) hideSecrets(layer, own, covers);
}

function hideSecrets(layer: Layer, git: string, covers: GitCovers): void {
  if (kindOf(join(git, 'config')) === 'other') layer.args.push('--ro-bind', covers.config(git), join(git, 'config'));
  for (const name of namesIn(git).filter((file) => CREDENTIALS.test(file))) {
    if (kindOf(join(git, name)) === 'other') layer.args.push('--ro-bind', layer.empty.file, join(git, name));
  }
  for (const config of submoduleConfigs(join(git, 'modules'), 3)) {
    layer.args.push('--ro-bind', covers.config(join(config, '..')), config);
  }
}

/** actions/checkout writes its credential into the configuration of every submodule, too. */
function submoduleConfigs(folder: string, depth: number): string[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    if (kindOf(path) !== 'folder') return [];
    const config = join(path, 'config');
    const own = kindOf(config) === 'other' ? [config] : [];
    const inner = own.length > 0 ? join(path, 'modules') : path;
    return depth > 1 ? [...own, ...submoduleConfigs(inner, depth - 1)] : own;
  });
}

/** Git folders below a workspace, found with a bounded walk; links and installed packages are passed over. */
export function nestedGitFolders(workspace: string): string[] {
  const found: string[] = [];
  let level = foldersIn(workspace).filter((folder) => basename(folder) !== '.git');
  let seen = 0;
  for (let depth = 1; depth < MOST_LEVELS && seen < MOST_FOLDERS; depth += 1) {
    const next = level.slice(0, MOST_FOLDERS - seen).flatMap(foldersIn);
    seen += level.length;
    found.push(...next.filter((folder) => basename(folder) === '.git'));
    level = next.filter((folder) => basename(folder) !== '.git');
  }
  return found;
}

const MOST_LEVELS = 4;
const MOST_FOLDERS = 3000;
const PASSED_OVER = new Set(['node_modules', 'agent-run-results', '.venv', 'target', 'dist']);

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() && !PASSED_OVER.has(entry.name));
    return folders.map((entry) => join(folder, entry.name));
  } catch {
    // EACCES: closed to us, so closed to tools.
    return [];
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // ENOENT: no submodules.
    return [];
  }
}

/** The text of a git folder's configuration, '' without one. */
export function readConfig(git: string): string {
  return readText(join(git, 'config'));
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // ENOENT, ENOTDIR: there is none.
    return '';
  }
}
