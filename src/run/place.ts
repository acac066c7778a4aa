import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { chooseBoundary } from '../sandbox/choose.ts';
import { createBoundary } from '../workspace/boundary.ts';
import { toolEnvironment } from '../workspace/environment.ts';
import { createFiles } from '../workspace/files.ts';
import { readDrivers } from '../workspace/git-drivers.ts';
import { createGit } from '../workspace/git.ts';
import type { RunConfig, TaskConfig } from '../core/config.ts';
import type { Boundary, Files, Git } from '../core/ports.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface PlaceOptions {
  config: RunConfig;
  env: Env;
  /** The run folder and all that lies in it; hidden from every tool. */
  run_dir?: string;
  /** Absolute paths of the task and what it names; no tool writes them. */
  task_files: readonly string[];
}

/** Where a run works: the workspace as tools see it, and the boundary their processes run in. */
export interface Place {
  files: Files;
  git: Git;
  boundary: Boundary;
  dispose(): void;
}

const GIT_TIMEOUT_MS = 10_000;

/** Opens the workspace and chooses the boundary. Throws UsageError, also for a sandbox that is needed and missing. */
export async function buildPlace(options: PlaceOptions): Promise<Place> {
  const { config, env, run_dir, task_files } = options;
  const { sandbox } = config.task;
  const hidden = run_dir === undefined ? [] : [run_dir];
  const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'agent-run-'));
  const files = await createFiles(config.workspace, { hidden, read_only: task_files });
  const home = join(scratch, 'home');
  mkdirSync(home, { mode: 0o700 });
  const common = { source: env, names: sandbox.env, workspace: files.root };
  const plainEnv = toolEnvironment({ ...common, home });
  const git_settings = await readDrivers({ cwd: files.root, env: plainEnv, timeout_ms: GIT_TIMEOUT_MS });
  const toolEnv = toolEnvironment({ ...common, home, git_settings });
  const boundary = await chooseBoundary(createBoundary({ env: toolEnv, mode: sandbox.mode, detail: '' }), {
    config: sandbox,
    workspace: files.root,
    hidden: hidden.filter((folder) => isBelow(files.root, folder)),
    locked: task_files.filter((file) => isBelow(files.root, file)),
    env: toolEnvironment({ ...common, home: homedir(), git_settings }),
    home: homedir(),
    untrusted: config.untrusted,
    starts_processes: startsProcesses(config.task),
  });
  const git = createGit(files.root, { env: toolEnv, scratch: join(scratch, 'git'), exclude: hidden });
  return {
    files,
    git,
    boundary,
    dispose() {
      boundary.dispose();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && !way.startsWith('..');
}

function startsProcesses({ tools, custom_tools, verify, context }: TaskConfig): boolean {
  return (
    verify.length > 0 ||
    custom_tools.length > 0 ||
    tools.some(({ name }) => name === 'bash' || name === 'git') ||
    context.some(({ kind }) => kind === 'command')
  );
}
