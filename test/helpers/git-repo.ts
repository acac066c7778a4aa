import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Git } from '../../src/core/ports.ts';
import { toolEnvironment } from '../../src/workspace/environment.ts';
import { createGit, type GitOptions } from '../../src/workspace/git.ts';
import { tempFolder, writeTree } from './temp.ts';

const IDENTITY = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgSign=false'];

/** A real repository in a temporary folder. */
export interface TestRepo {
  root: string;
  /** Runs git in it and returns what it prints. */
  git(...args: string[]): string;
  /** Writes files, commits everything and returns the commit's id. */
  commit(files: Record<string, string | Uint8Array>, message?: string): string;
}

/** A repository on branch `main`, with one commit when files are given. */
export function gitRepo(files?: Record<string, string | Uint8Array>, root = tempFolder()): TestRepo {
  const git = (...args: string[]): string =>
    execFileSync('git', [...IDENTITY, ...args], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const commit = (added: Record<string, string | Uint8Array>, message = 'a commit'): string => {
    writeTree(root, added);
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', message);
    return git('rev-parse', 'HEAD').trim();
  };
  git('init', '-q', '-b', 'main');
  if (files) commit(files);
  return { root, git, commit };
}

/** Our own git on a folder, as a run would make it. */
export function gitOn(root: string, options: Partial<GitOptions> = {}): Git {
  const env = toolEnvironment({ source: process.env, names: [], home: tempFolder(), workspace: root });
  return createGit(root, { env, scratch: join(tempFolder(), 'scratch'), ...options });
}
