// Makes a small real git repository for an example: each commit is a message and the files it writes (null removes one).
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const WHO = { name: 'Example Author', email: 'author@example.invalid' };

/** Creates the repository in `dir` on branch main; `tag` marks a commit, `branch` starts one before it. */
export function makeHistory(dir, commits) {
  mkdirSync(dir, { recursive: true });
  git(dir, ['init', '--quiet', '--initial-branch=main']);
  commits.forEach((commit, index) => {
    if (commit.branch) git(dir, ['checkout', '--quiet', '-b', commit.branch]);
    for (const [path, text] of Object.entries(commit.files)) put(join(dir, path), text);
    git(dir, ['add', '--all']);
    git(dir, ['commit', '--quiet', '--message', commit.message], `2026-11-0${index + 1}T09:00:00Z`);
    if (commit.tag) git(dir, ['tag', commit.tag]);
  });
}

function put(file, text) {
  if (text === null) return rmSync(file);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function git(dir, args, date = '2026-11-01T09:00:00Z') {
  const env = {
    PATH: process.env.PATH,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: WHO.name,
    GIT_AUTHOR_EMAIL: WHO.email,
    GIT_COMMITTER_NAME: WHO.name,
    GIT_COMMITTER_EMAIL: WHO.email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
  execFileSync('git', args, { cwd: dir, env, stdio: ['ignore', 'ignore', 'inherit'] });
}
