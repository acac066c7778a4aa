/** One setting of git: name and value. */
export type GitSetting = readonly [name: string, value: string];

// Given through the environment, because only that stands above the repository's own configuration.
const SETTINGS: readonly GitSetting[] = [
  ['safe.bareRepository', 'explicit'], // a bare repository buried in a pull request names programs, too
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['protocol.ext.allow', 'never'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['log.showSignature', 'false'],
  ['submodule.recurse', 'false'],
];

/** Variables under which git reads no configuration but the repository's, asks nobody and starts no helper. */
export function gitEnvironment(workspace: string, more: readonly GitSetting[] = []): Record<string, string> {
  const variables: Record<string, string> = {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    GCM_INTERACTIVE: 'never',
  };
  // The job may run as another user than the one that cloned; nothing but this folder is trusted for it.
  return withSettings(variables, [...SETTINGS, ['safe.directory', workspace], ...more]);
}

/** The same variables with more settings; a later one wins. */
export function withSettings(
  env: Readonly<Record<string, string>>,
  more: readonly GitSetting[],
): Record<string, string> {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? '0');
  const variables: Record<string, string> = { ...env, GIT_CONFIG_COUNT: String(count + more.length) };
  for (const [index, [name, value]] of more.entries()) {
    variables[`GIT_CONFIG_KEY_${count + index}`] = name;
    variables[`GIT_CONFIG_VALUE_${count + index}`] = value;
  }
  return variables;
}
