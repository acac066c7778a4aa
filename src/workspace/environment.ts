import { realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { MARKER_PREFIX } from './exec-start.ts';
import { gitEnvironment, type GitSetting } from './git-env.ts';
import { isInside } from './path-guard.ts';

export interface ToolEnvironmentOptions {
  /** The runner's own environment. */
  source: Readonly<Record<string, string | undefined>>;
  /** `sandbox.env` of the task. */
  names: readonly string[];
  /** An empty private folder. */
  home: string;
  /** Real path. */
  workspace: string;
  /** Drivers of the repository that must not run; see `readDrivers`. */
  git_settings?: readonly GitSetting[];
}

/** What a listed name would do to every tool, or undefined for a harmless name. */
const DANGERS: readonly [pattern: RegExp, danger: string][] = [
  [/^(?:LD_|DYLD_|GCONV_PATH$|LOCPATH$|NLSPATH$)/, 'loads code or data into every program'],
  [/^(?:NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS)$/, 'changes what every Node program loads or trusts'],
  [/^(?:PYTHON|PERL|RUBY|JAVA_TOOL_OPTIONS$|_JAVA_OPTIONS$|JDK_JAVA_OPTIONS$)/, 'loads code into an interpreter'],
  [/^(?:BASH_|ENV$|SHELLOPTS$|BASHOPTS$|PS[0-4]$|PROMPT_COMMAND$|IFS$|CDPATH$|SHELL$)/, 'changes what a shell does'],
  [/^(?:GIT_|GCM_|SSH_ASKPASS|PAGER$|MANPAGER$|LESS|EDITOR$|VISUAL$|NPM_CONFIG_)/i, 'names programs to start'],
  [/_PROXY$/i, 'sends traffic elsewhere'],
  [/^(?:GITHUB_(?:ENV|PATH|OUTPUT|STATE|STEP_SUMMARY))$/, 'is written by tools to steer later steps'],
  [/^(?:ACTIONS_(?:ID_TOKEN_REQUEST|RUNTIME)_|ANTHROPIC_IDENTITY_TOKEN$)/, 'gets the credentials of the job'],
  [/^(?:PATH|HOME|TERM)$/, 'is set by agent-run'],
  [new RegExp(`^${MARKER_PREFIX}`), 'is set by agent-run'],
];

const PASSED = ['TZ', 'CI'];
const DEFAULT_PATH = ['/usr/local/bin', '/usr/bin', '/bin'];

/** Why `sandbox.env` may not list a name, or undefined. */
export function nameIssue(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'is no name of an environment variable';
  return DANGERS.find(([pattern]) => pattern.test(name))?.[1];
}

/** The whole environment of tools; an allowlist, whatever runs them. Throws UsageError for a dangerous listed name. */
export function toolEnvironment(options: ToolEnvironmentOptions): Record<string, string> {
  const { source, home, workspace } = options;
  for (const name of options.names) {
    const issue = nameIssue(name);
    if (issue) throw new UsageError(`sandbox.env: ${name} ${issue}; take it off the list`);
  }
  const markers = Object.keys(source).filter((name) => name.startsWith(MARKER_PREFIX));
  const kept: Record<string, string> = {};
  for (const name of [...PASSED, ...markers, ...options.names]) {
    const value = source[name];
    if (value !== undefined) kept[name] = value;
  }
  return {
    LANG: source['LANG'] || 'C.UTF-8',
    ...kept,
    ...gitEnvironment(workspace, options.git_settings),
    PATH: safePath(source, workspace).join(delimiter),
    HOME: home,
    TERM: 'dumb',
  };
}

/** The entries of PATH that neither the repository nor an earlier step's temporary files can fill. */
function safePath(source: ToolEnvironmentOptions['source'], workspace: string): string[] {
  const temporary = [tmpdir(), source['RUNNER_TEMP'], source['TMPDIR'], '/tmp', '/var/tmp', '/dev/shm'];
  const open = [workspace, ...temporary.filter((folder) => folder !== undefined && isAbsolute(folder))].map(realFolder);
  const entries = (source['PATH'] ?? '').split(delimiter).filter((entry) => {
    const real = isAbsolute(entry) ? realFolder(entry) : undefined;
    return real !== undefined && !open.some((folder) => folder !== undefined && isInside(folder, real));
  });
  return entries.length > 0 ? [...new Set(entries)] : DEFAULT_PATH;
}

function realFolder(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return statSync(path).isDirectory() ? realpathSync(path) : undefined;
  } catch {
    // ENOENT, EACCES: a folder that nobody here can look into holds no tool.
    return undefined;
  }
}
