import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createBoundary } from '../../src/workspace/boundary.ts';
import { toolEnvironment } from '../../src/workspace/environment.ts';
import { exec } from '../../src/workspace/exec.ts';
import { readDrivers } from '../../src/workspace/git-drivers.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

function environment(source: Record<string, string>, names: string[] = [], workspace = tempFolder()) {
  return toolEnvironment({ source, names, home: '/private/home', workspace });
}

describe('the environment of tools', () => {
  test('holds nothing of the runner but what is listed', () => {
    const source = { PATH: '/usr/bin', HOME: '/root', ANTHROPIC_API_KEY: 'k', GITHUB_TOKEN: 't', NODE_ENV: 'test' };
    const env = environment({ ...source, TZ: 'Asia/Tokyo', CI: 'true', LANG: 'ja_JP.UTF-8', TERM: 'xterm' }, [
      'NODE_ENV',
    ]);
    const own = Object.entries(env).filter(([name]) => !/^(?:GIT_|GCM_|SSH_ASKPASS)/.test(name));
    expect(Object.fromEntries(own)).toEqual({
      PATH: '/usr/bin',
      HOME: '/private/home',
      LANG: 'ja_JP.UTF-8',
      TZ: 'Asia/Tokyo',
      CI: 'true',
      TERM: 'dumb',
      NODE_ENV: 'test',
    });
  });

  test('leaves out a listed name that is not set, and has a language anyway', () => {
    const env = environment({}, ['NODE_ENV']);
    expect(env).not.toHaveProperty('NODE_ENV');
    expect(env).toMatchObject({ LANG: 'C.UTF-8', PATH: '/usr/local/bin:/usr/bin:/bin' });
  });

  test('passes over an entry of PATH that nobody can look into', () => {
    const loop = join(tempFolder(), 'loop');
    symlinkSync(loop, loop);
    const env = toolEnvironment({ source: { PATH: `${loop}:/usr/bin` }, names: [], home: '/home/x', workspace: '/w' });
    expect(env['PATH']).toBe('/usr/bin');
  });

  test('has on its PATH only absolute folders outside workspace and temporary folders', () => {
    const workspace = tempFolder();
    mkdirSync(join(workspace, 'node_modules/.bin'), { recursive: true });
    const temporary = tempFolder();
    symlinkSync(workspace, join(temporary, 'link'));
    const entries = ['node_modules/.bin', '', '.', join(workspace, 'node_modules/.bin'), temporary, '/no/such/folder'];
    const PATH = ['/usr/bin', ...entries, join(temporary, 'link'), '/usr/bin', '/bin'].join(':');
    expect(environment({ PATH }, [], workspace)['PATH']).toBe('/usr/bin:/bin');
  });

  test('passes the marks of an outer runner on, so that it finds what we started', () => {
    expect(environment({ AGENT_RUN_CALL_abc: '1' })).toHaveProperty('AGENT_RUN_CALL_abc', '1');
  });

  test.each([
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'NODE_OPTIONS',
    'BASH_ENV',
    'BASH_FUNC_ls',
    'ENV',
    'GIT_SSH_COMMAND',
    'git_dir',
    'HTTPS_PROXY',
    'http_proxy',
    'PAGER',
    'EDITOR',
    'PYTHONPATH',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    'npm_config_script_shell',
    'GITHUB_ENV',
    'GITHUB_OUTPUT',
    'PATH',
    'HOME',
    'A=B',
    'CORP_*',
    '',
  ])('refuses the listed name %j', (name) => {
    expect(() => environment({}, [name])).toThrow(`sandbox.env: ${name} `);
  });
});

describe('the boundary without a sandbox', () => {
  test('says so and starts the command as it is', () => {
    const boundary = createBoundary({ env: { A: 'b' }, mode: 'auto', detail: 'bwrap is missing' });
    expect(boundary.state).toEqual({ mode: 'auto', active: 'none', detail: 'bwrap is missing' });
    expect(boundary.wrap(['ls', '-l'], '/x')).toEqual({ argv: ['ls', '-l'], cwd: '/x', env: { A: 'b' } });
  });

  test('git-config-01, T13: git started by a tool runs no program that the repository names', async () => {
    const workspace = tempFolder();
    const git = (...args: string[]): void => void execFileSync('git', args, { cwd: workspace });
    git('init', '-q');
    git('config', 'core.fsmonitor', 'touch pwn; false');
    git('config', 'core.hooksPath', 'hooks');
    git('config', 'core.pager', 'touch pwn');
    git('config', 'core.sshCommand', 'touch pwn');
    mkdirSync(join(workspace, 'bare/objects'), { recursive: true });
    mkdirSync(join(workspace, 'bare/refs'));
    const script = `printf 'ref: refs/heads/main\\n' > bare/HEAD
      printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=..\\nfsmonitor="touch ../pwn; false"\\n' > bare/config
      git status; (cd bare && git status); git -c user.name=a -c user.email=b commit -qm x --allow-empty
      git log; git ls-remote ssh://127.0.0.1:1/x; git ls-remote ext::"touch pwn"; ls pwn`;
    const env = toolEnvironment({ source: process.env, names: [], home: tempFolder(), workspace });
    const boundary = createBoundary({ env, mode: 'off', detail: '' });
    const result = await exec(['sh', '-c', script], {
      cwd: workspace,
      boundary,
      timeout_ms: 20_000,
      max_output_bytes: 30_000,
    });
    expect(result.output).toContain('cannot use bare repository');
    expect(result.output).toMatch(/cannot access '?pwn/);
  });

  test('git-config-02: a diff driver, a filter and a signing program of the repository are off for tools', async () => {
    const workspace = tempTree({ '.gitattributes': '*.md diff=x filter=f\n', 'a.md': 'a\n' });
    const git = (...args: string[]): void => void execFileSync('git', args, { cwd: workspace });
    git('init', '-q');
    git('add', '-A');
    for (const name of ['diff.x.command', 'diff.x.textconv', 'diff.external', 'filter.f.clean', 'gpg.program']) {
      git('config', name, 'touch pwn');
    }
    const options = { source: process.env, names: [], home: tempFolder(), workspace };
    const git_settings = await readDrivers({ cwd: workspace, env: toolEnvironment(options), timeout_ms: 10_000 });
    const boundary = createBoundary({ env: toolEnvironment({ ...options, git_settings }), mode: 'off', detail: '' });
    const script = 'echo b >> a.md; git diff; git add a.md; git -c user.name=a -c user.email=b commit -qSm x; ls pwn';
    const run = { cwd: workspace, boundary, timeout_ms: 20_000, max_output_bytes: 30_000 };
    expect((await exec(['sh', '-c', script], run)).output).toMatch(/cannot access '?pwn/);
  });
});
