import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { chooseBoundary } from '../sandbox/choose.ts';
import { createBoundary } from '../workspace/boundary.ts';
import { nameIssue, toolEnvironment } from '../workspace/environment.ts';
import { createFiles } from '../workspace/files.ts';
import { readDrivers } from '../workspace/git-drivers.ts';
import { createGit } from '../workspace/git.ts';
import type { GitFacts } from '../workspace/git-facts.ts';
import type { McpServerConfig, RunConfig, SandboxConfig, TaskConfig } from '../core/config.ts';
import type { Boundary, Files, Git } from '../core/ports.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface PlaceOptions {
  config: RunConfig;
  env: Env;
  /** The run folder and all that lies in it; hidden from every tool. */
  run_dir?: string;
  /** Absolute paths of the task and what it names; no tool writes them. */
  task_files: readonly string[];
  /** Shared with other runs of this process; absent: git is asked for this run alone. */
  facts?: GitFacts | undefined;
}

/** Where a run works: the workspace as tools see it, and the boundary their processes run in. */
export interface Place {
  files: Files;
  git: Git;
  boundary: Boundary;
  /** The boundary of an MCP server: its own variables and network, and a workspace that it only reads. */
  boundaryFor(server: McpServerConfig): Promise<Boundary>;
  dispose(): void;
}

const GIT_TIMEOUT_MS = 10_000;

/** Opens the workspace and chooses the boundary. Throws UsageError, also for a sandbox that is needed and missing. */
export async function buildPlace(options: PlaceOptions): Promise<Place> {
  const { config, env, run_dir, task_files } = options;
  const { sandbox } = config.task;
  const hidden = hiddenFolders(config.workspace, run_dir, env);
  const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'agent-run-'));
  const files = await createFiles(config.workspace, { hidden, read_only: task_files });
  const home = join(scratch, 'home');
  mkdirSync(home, { mode: 0o700 });
  const realHome = env['HOME'] || homedir();
  const common = { source: env, names: sandbox.env, workspace: files.root };
  const plainEnv = toolEnvironment({ ...common, home });
  const shared = sharedGit(options, files.root);
  const git_settings = await shared.drivers(plainEnv);
  const toolEnv = toolEnvironment({ ...common, home, git_settings });
  const gitOptions = { env: toolEnv, scratch: join(scratch, 'git'), exclude: hidden, drivers: git_settings };
  const git = createGit(files.root, gitOptions);
  // As it is before any process of the run; asked now, so that it is there when the run starts.
  const state = shared.state(() => git.state());
  state.catch(() => {}); // whoever asks hears of it
  const removeScratch = (): void => rmSync(scratch, { recursive: true, force: true });
  const choose = boundaryChooser(options, { files, hidden, homes: [home, realHome], git_settings });
  const boundary = await choose(sandbox).catch((error: unknown) => {
    removeScratch(); // a UsageError: a sandbox that is needed and missing
    throw error;
  });
  const boundaries = [boundary];
  return {
    files,
    git: { ...git, state: async () => state },
    boundary,
    async boundaryFor(server) {
      const own = await choose(serverRules(sandbox, server, files.root));
      boundaries.push(own);
      return own;
    },
    dispose() {
      for (const one of boundaries.toReversed()) one.dispose();
      removeScratch();
    },
  };
}

/** Git's answers about a workspace, from what runs of this process share where they do; the environment they are asked in is part of the question. */
function sharedGit({ config, facts }: PlaceOptions, root: string) {
  const key = JSON.stringify([root, config.task.sandbox.env]);
  return {
    drivers(env: Readonly<Record<string, string>>) {
      const ask = () => readDrivers({ cwd: root, env, timeout_ms: GIT_TIMEOUT_MS });
      return facts ? facts.drivers(key, ask) : ask();
    },
    state: (ask: Git['state']) => (facts ? facts.state(key, ask) : ask()),
  };
}

interface Surroundings {
  files: Files;
  hidden: readonly string[];
  /** Without a sandbox, and inside one. */
  homes: readonly [plain: string, inner: string];
  git_settings: Awaited<ReturnType<typeof readDrivers>>;
}

/** Chooses a boundary around the workspace by rules that may differ. */
function boundaryChooser(
  { config, env, task_files }: PlaceOptions,
  { files, hidden, homes: [home, realHome], git_settings }: Surroundings,
): (rules: SandboxConfig) => ReturnType<typeof chooseBoundary> {
  const around = {
    workspace: files.root,
    hidden,
    locked: task_files.flatMap(bothPaths).filter((file) => isBelow(files.root, file)),
    home: realHome,
    untrusted: config.untrusted,
    starts_processes: startsProcesses(config.task),
  };
  return async (rules) => {
    const common = { source: env, names: rules.env, workspace: files.root, git_settings };
    const plain = createBoundary({ env: toolEnvironment({ ...common, home }), mode: rules.mode, detail: '' });
    return chooseBoundary(plain, { ...around, config: rules, env: toolEnvironment({ ...common, home: realHome }) });
  };
}

/** A server lives as long as the run, so what it writes to must be named: no mount point then has to stand in the workspace all the time. */
function serverRules(sandbox: SandboxConfig, server: McpServerConfig, root: string): SandboxConfig {
  for (const name of server.env) {
    const issue = nameIssue(name);
    if (issue) throw new UsageError(`mcp_servers.${server.name}.env: ${name} ${issue}; take it off the list`);
  }
  const write = sandbox.write.filter((path) => resolve(root, path) !== root);
  return { ...sandbox, network: server.network, env: [...new Set([...sandbox.env, ...server.env])], write };
}

/** The run's record, and what the CI keeps for its steps: command files, tokens, credentials. */
function hiddenFolders(workspace: string, run_dir: string | undefined, env: Env): string[] {
  const temporary = env['RUNNER_TEMP'] ?? '';
  // Some workflows check out below it.
  const around = bothPaths(temporary).some((folder) => bothPaths(workspace).some((path) => isBelow(folder, path)));
  const folders = [
    ...(run_dir === undefined ? [] : [run_dir]),
    ...(isAbsolute(temporary) && !around ? [temporary] : []),
  ];
  return [...new Set(folders.flatMap(bothPaths))];
}

/** A path as it is named and as it really is; a repository may hold a link on the way. */
function bothPaths(path: string): string[] {
  return existsSync(path) ? [...new Set([path, realpathSync(path)])] : [path];
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}

function startsProcesses({ tools, custom_tools, mcp_servers = [], verify, context }: TaskConfig): boolean {
  return (
    verify.length > 0 ||
    mcp_servers.some(({ url }) => url === undefined) ||
    custom_tools.length > 0 ||
    tools.some(({ name }) => name === 'bash' || name === 'git') ||
    context.some(({ kind }) => kind === 'command')
  );
}
