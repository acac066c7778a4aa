import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROTECTED_FILES, PROTECTED_FOLDERS } from '../core/protected-names.ts';
import { mountGit } from './git-mounts.ts';
import { close, createLayer, hide } from './layer.ts';
import { innerHome, isWithin, resolver, scratchMounts, sealScratch, systemMounts } from './system-mounts.ts';
import { toolFolders } from './tool-folders.ts';
import type { SandboxConfig } from '../core/config.ts';
import type { GitCovers } from './git-mounts.ts';
import type { Empty, KeptLink, Layer, Made } from './layer.ts';

export interface ProfileOptions {
  config: SandboxConfig;
  /** Real absolute path. */
  workspace: string;
  /** Folders that tools must not see (the run folder, the CI runner's temporary folder). */
  hidden: readonly string[];
  /** Files that stay read-only (the task and what it names). */
  locked: readonly string[];
  /** The runner's home; inside it is empty but for `sandbox.read`. */
  home: string;
  /** PATH as the tools get it. */
  path: string;
  nested_git: readonly string[];
  covers: GitCovers;
  empty: Empty;
  /** Mounts of ours: what stands where. */
  extra: readonly (readonly [source: string, target: string])[];
}

export interface Profile {
  /** bwrap's options, without the command. */
  args: string[];
  /** Mount points that bwrap has to make in the workspace; removed when no call runs any more. */
  made: Made[];
  /** Links that tools could have replaced. */
  links: KeptLink[];
}

const ISOLATED = '--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --cap-drop ALL';

/** What is mounted around the workspace: the same for every call, and looked up once. */
export function machineMounts(options: ProfileOptions): string[] {
  const { config, workspace, home } = options;
  return [
    ...isolation(config.network),
    ...systemMounts([workspace, home, ...options.hidden]),
    ...scratchMounts(innerHome(home, workspace)),
    ...(config.network === true ? resolver() : []),
    ...toolFolders(options.path, home).flatMap((path) => ['--ro-bind', path, path]),
    ...config.read.flatMap((path) => outsideMount('--ro-bind', path, options)),
  ];
}

/** bwrap's arguments for one tool call (threat model, section 5). Later mounts cover earlier ones. */
export function buildProfile(machine: readonly string[], options: ProfileOptions): Profile {
  const layer = workspaceLayer(options);
  const extra = options.extra.flatMap(([source, target]) => ['--ro-bind', source, target]);
  return { args: [...machine, ...layer.args, ...extra, ...sealScratch()], made: layer.made, links: layer.links };
}

function isolation(network: SandboxConfig['network']): string[] {
  // --share-net takes back what --unshare-all gave away, so it stands behind it.
  return [...ISOLATED.split(' '), '--hostname', 'sandbox', ...(network === true ? ['--share-net'] : [])];
}

/** A path of the task that is not in the workspace; `~` is the runner's home, and the same name inside. */
function outsideMount(flag: string, path: string, { home, workspace }: ProfileOptions): string[] {
  const fromHome = path === '~' || path.startsWith('~/');
  const source = fromHome ? join(home, path.slice(1)) : resolve(workspace, path);
  if (isWithin(workspace, source) || !existsSync(source)) return [];
  return [flag, source, fromHome ? join(innerHome(home, workspace), path.slice(1)) : source];
}

/** The workspace, with everything in it that is closed to tools. */
function workspaceLayer(options: ProfileOptions): Layer {
  const { workspace, config, nested_git, covers } = options;
  const layer = createLayer(options.empty);
  const roots = writableRoots(options);
  const whole = roots.includes(workspace);
  layer.args.push(whole ? '--bind' : '--ro-bind', workspace, workspace);
  if (!whole) layer.args.push(...roots.flatMap((root) => ['--bind', root, root]));
  layer.args.push(...config.write.flatMap((path) => outsideMount('--bind', path, options)));
  for (const [path, kind] of protectedPaths(workspace)) {
    const root = rootOf(roots, path);
    if (root !== undefined) close(layer, root, path, kind);
  }
  mountGit(layer, { workspace, writable: whole, git_write: config.git_write, nested: nested_git, covers });
  for (const file of options.locked) {
    const root = rootOf(roots, file);
    if (root !== undefined && existsSync(file)) close(layer, root, file, 'file');
  }
  for (const folder of options.hidden.filter(existsSync)) hideFolder(layer, folder, options);
  return layer;
}

/** Folders of the workspace that tools write to; one that leads out of it is none. */
function writableRoots({ workspace, config }: ProfileOptions): string[] {
  return config.write
    .map((path) => resolve(workspace, path))
    .filter((path) => isWithin(workspace, path) && existsSync(path) && realpathSync(path) === path);
}

/** The writable folder a path lies in, unless the task names the path itself or something in it. */
function rootOf(roots: readonly string[], path: string): string | undefined {
  if (roots.some((root) => isWithin(path, root))) return undefined;
  return roots.find((root) => isWithin(root, path));
}

function protectedPaths(workspace: string): [path: string, kind: Made['kind']][] {
  return [
    ...PROTECTED_FILES.map((name): [string, Made['kind']] => [join(workspace, name), 'file']),
    ...PROTECTED_FOLDERS.map((name): [string, Made['kind']] => [join(workspace, name), 'folder']),
  ];
}

/** Only where tools would see it: everywhere else nothing is mounted. */
function hideFolder(layer: Layer, folder: string, { workspace, config, home }: ProfileOptions): void {
  const shown = [
    workspace,
    ...[...config.read, ...config.write].map((path) => resolve(workspace, path.replace(/^~/, home))),
  ];
  const root = shown.find((path) => path !== folder && isWithin(path, folder));
  if (root !== undefined) hide(layer, root, folder);
}
