import { chmodSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toolFolders } from '../../src/sandbox/tool-folders.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';
import { inside, missing, workspace } from './inside.ts';

const PROGRAM = '#!/bin/sh\necho "ran $(basename "$0")"\n';

/** A home with programs as version managers install them, and secrets beside them. */
function homeWithTools(): string {
  const home = writeTree(tempFolder(), {
    '.ssh/id_rsa': 'do-not-show',
    '.cargo/credentials.toml': 'do-not-show',
    '.cargo/bin/cargo': PROGRAM,
    '.rustup/toolchains/stable/bin/rustc': PROGRAM,
    '.pyenv/shims/python': PROGRAM,
    '.pyenv/versions/3.12/bin/python': PROGRAM,
    '.pyenv/version': '3.12\n',
    '.pyenv/secret': 'do-not-show',
    '.local/bin/plain': PROGRAM,
    '.local/share/keyrings/login': 'do-not-show',
    '.local/share/pipx/venvs/black/bin/black': PROGRAM,
    '.local/share/pipx/venvs/black/lib/black.py': 'lib\n',
    '.local/share/pipx/venvs/black/pyvenv.cfg': 'home = /usr/bin\n',
  });
  const programs = ['.cargo/bin/cargo', '.pyenv/shims/python', '.local/bin/plain'];
  for (const file of [...programs, '.local/share/pipx/venvs/black/bin/black']) chmodSync(join(home, file), 0o755);
  symlinkSync('../share/pipx/venvs/black/bin/black', join(home, '.local/bin/black'));
  return home;
}

const pathOf = (home: string): string =>
  ['.cargo/bin', '.pyenv/shims', '.local/bin', 'missing/bin'].map((name) => join(home, name)).join(':');

describe('the programs of PATH outside the system folders', () => {
  test('are shown with what they need, without what lies beside them', () => {
    const home = homeWithTools();
    const shown = toolFolders(`${pathOf(home)}:/usr/bin:relative/bin`, home).map((path) => path.slice(home.length + 1));
    expect(shown).toEqual([
      '.cargo/bin',
      '.local/bin',
      '.local/share/pipx/venvs/black/bin',
      '.local/share/pipx/venvs/black/lib',
      '.local/share/pipx/venvs/black/pyvenv.cfg',
      '.pyenv/shims',
      '.pyenv/version',
      '.pyenv/versions',
      '.rustup/toolchains',
    ]);
  });

  test('never show a whole home, even when PATH names it', () => {
    const home = tempFolder();
    mkdirSync(join(home, 'bin'));
    expect(toolFolders(`${home}:${join(home, 'bin')}:/`, home)).toEqual([join(home, 'bin')]);
  });
});

describe.skipIf(missing)('the machine as tools see it (needs bubblewrap)', () => {
  test('runs programs of the home, and holds none of its secrets', () => {
    const home = homeWithTools();
    const env = { PATH: `${pathOf(home)}:/usr/bin:/bin` };
    const script = `cargo; python; black; cat ${home}/.pyenv/version; grep -r do-not-show ${home}; ls -A ${home}`;
    const result = inside(workspace(), script, { home, env });
    expect(result.stdout).toBe('ran cargo\nran python\nran black\n3.12\n.cargo\n.local\n.pyenv\n.rustup\n');
  });

  test('has a home and temporary folders that can be written, and nothing else outside the workspace', () => {
    const script =
      'for d in "$HOME" /tmp /var/tmp /dev/shm / /run /home /dev /usr /etc /mnt; do echo x > $d/agent-run-test 2>/dev/null && echo $d; done';
    const home = join(tempFolder(), 'home');
    expect(inside(workspace(), script, { home }).stdout.split('\n')).toEqual([
      home,
      '/tmp',
      '/var/tmp',
      '/dev/shm',
      '',
    ]);
  });

  test.each(['/', '/etc', '/tmp', 'relative'])('has a home of its own where the runner has %s', (home) => {
    const result = inside(workspace(), 'echo x > ~/a && cat ~/a && echo $HOME && ls /usr/bin | head -1', { home });
    expect(result.stdout).toMatch(/^x\n\/home\/agent-run\n.+\n$/);
  });

  test('has a home outside the workspace, also where the runner works in its home', () => {
    const folder = writeTree(workspace(), { '.npmrc': 'script-shell=./evil.sh\n' });
    expect(inside(folder, 'ls -A ~; echo $HOME', { home: folder }).stdout).toBe('/home/agent-run\n');
  });

  test('keeps sandbox.read below the home of the tools', () => {
    const home = writeTree(tempFolder(), { '.npm/cache': 'cached\n' });
    const config = { read: ['~/.npm'] };
    expect(inside(workspace(), 'cat ~/.npm/cache', { home, config }).stdout).toBe('cached\n');
    expect(inside(workspace(), 'cat ~/.npm/cache', { home: '/', config }).stdout).toBe('');
  });

  test('does not show files that only their owner may read', () => {
    const result = inside(
      workspace(),
      'cat /etc/shadow /etc/gshadow /etc/shadow-; ls -A /etc/ssl/private; cat /etc/passwd',
    );
    expect(result.stdout).toContain('root:x:');
    expect(result.stdout).not.toMatch(/root:[*!$]/);
    expect(result.stdout).not.toContain('.key');
  });

  test('does not show the temporary folder of the CI runner where a folder of the task holds it', () => {
    const data = writeTree(tempFolder(), { '_temp/token': 'do-not-show', 'set.csv': '1\n' });
    const result = inside(workspace(), `cat ${data}/set.csv ${data}/_temp/token`, {
      config: { read: [data] },
      hidden: [join(data, '_temp')],
    });
    expect(result.stdout).toBe('1\n');
  });

  test('has the tools that agents use most: npm, node and git', () => {
    if (!existsSync('/usr/bin/npm')) return;
    const folder = writeTree(workspace(), { 'package.json': '{"scripts":{"test":"node -p 6*7"}}' });
    const result = inside(folder, 'npm test --silent && git log --format=%s && npm ls && ls ~/.npm');
    expect(result.stdout).toContain('42\nfirst\n');
    expect(result.stdout).toContain('_logs');
  });

  test('ends a program that writes a file without end', () => {
    const result = inside(
      workspace(),
      'truncate -s 5G big; echo $?; ulimit -f; ulimit -c; cat /proc/self/oom_score_adj',
    );
    expect(result.stdout).toMatch(/^[1-9]\d*\n8388608\n0\n800\n$/);
  });
});
