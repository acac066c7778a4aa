import { existsSync, mkdtempSync, readFileSync, realpathSync, rmdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorText } from '../core/errors.ts';
import { chooseBoundary } from '../sandbox/choose.ts';
import { createBoundary } from '../workspace/boundary.ts';
import { toolEnvironment } from '../workspace/environment.ts';
import { openRepository } from '../workspace/git-repository.ts';
import { runGit } from '../workspace/git-run.ts';
import { RESULTS_FOLDER } from './run-folder.ts';
import { VERSION } from './version.ts';
import type { Check, DoctorRequest } from './doctor-check.ts';
import type { Env } from './place.ts';

const TIMEOUT_MS = 10_000;

/** Whether a version of Node is one that package.json admits: ^20.19.0 || >=22.12.0. */
export function nodeCheck(version = process.version): Check {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  const text = `${version} on ${process.platform}-${process.arch}, agent-run ${VERSION}`;
  if (fits) return { name: 'node', state: 'ok', text };
  return { name: 'node', state: 'fail', text, mend: 'install Node 20.19, 22.12 or later' };
}

function environment(workspace: string, source: Env): Record<string, string> {
  return toolEnvironment({ source, names: [], home: homedir(), workspace: realpathSync(workspace) });
}

/** Whether git starts. */
export async function gitCheck(workspace: string, env: Env): Promise<Check> {
  const call = { cwd: workspace, env: environment(workspace, env), timeout_ms: TIMEOUT_MS };
  const answer = await runGit(call, ['--version']);
  if (answer.code === 0) return { name: 'git', state: 'ok', text: answer.stdout.toString('utf8').trim() };
  const text = `${answer.stderr}; no context from git, no --task-ref and no changes.patch`;
  return { name: 'git', state: 'warn', text, mend: 'install git' };
}

/** Whether the workspace is a repository with its history. */
export async function workspaceCheck(workspace: string, env: Env): Promise<Check> {
  const call = { cwd: realpathSync(workspace), env: environment(workspace, env), timeout_ms: TIMEOUT_MS };
  const opened = await openRepository(call);
  if (!opened.ok) return { name: 'workspace', state: 'warn', text: `${workspace}: ${opened.reason}` };
  if (!opened.repository.shallow) return { name: 'workspace', state: 'ok', text: `${workspace}, a git repository` };
  return {
    name: 'workspace',
    state: 'warn',
    text: `${workspace}, a shallow clone: older commits are fetched only where a remote answers`,
    mend: 'set fetch-depth: 0 for actions/checkout, or run: git fetch --unshallow',
  };
}

const SANDBOX = {
  mode: 'auto',
  network: false,
  env: [],
  read: [],
  write: ['.'],
  git_write: false,
  allow_untrusted: false,
} as const;

/** Whether the profile that tools get works here; it is started once. */
export async function sandboxCheck(workspace: string, source: Env, untrusted: boolean): Promise<Check> {
  const env = environment(workspace, source);
  const boundary = await chooseBoundary(createBoundary({ env, mode: 'auto', detail: '' }), {
    config: { ...SANDBOX, env: [], read: [], write: ['.'] },
    workspace: realpathSync(workspace),
    hidden: [],
    locked: [],
    env,
    home: homedir(),
    untrusted: false,
    starts_processes: true,
  });
  boundary.dispose();
  const { active, detail } = boundary.state;
  if (active !== 'none') return { name: 'sandbox', state: 'ok', text: `${active} works` };
  const consequence = untrusted ? 'an untrusted run starts no process' : 'tools run without a sandbox';
  return { name: 'sandbox', state: untrusted ? 'fail' : 'warn', text: `${detail}; ${consequence}`, ...namespaceMend() };
}

/** Switches of the kernel that keep namespaces from programs without rights: file, the value that does, what changes it. */
const SWITCHES = [
  ['kernel/apparmor_restrict_unprivileged_userns', '1', 'kernel.apparmor_restrict_unprivileged_userns=0'],
  ['kernel/unprivileged_userns_clone', '0', 'kernel.unprivileged_userns_clone=1'],
  ['user/max_user_namespaces', '0', 'user.max_user_namespaces=10000'],
] as const;

function namespaceMend(): { mend?: string } {
  const found = SWITCHES.find(([file, value]) => readOrEmpty(`/proc/sys/${file}`).trim() === value);
  if (found) return { mend: `sudo sysctl -w ${found[2]}` };
  return process.platform === 'linux'
    ? { mend: 'install bubblewrap; in a container, let it make user namespaces' }
    : {};
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // ENOENT: this kernel has no such switch.
    return '';
  }
}

/** Whether a run folder can be made where a run would make it. */
export function folderCheck({ cwd, out }: Pick<DoctorRequest, 'cwd' | 'out'>): Check {
  const folder = out ?? join(cwd, RESULTS_FOLDER);
  try {
    rmdirSync(mkdtempSync(join(existing(folder), '.agent-run-doctor-')));
    return { name: 'run folder', state: 'ok', text: `${folder} can be written` };
  } catch (error) {
    // EACCES, EROFS, ENOSPC, ENOTDIR and their like.
    return { name: 'run folder', state: 'fail', text: errorText(error), mend: 'name another place with --out' };
  }
}

function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder));
}
