import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { MARKER_PREFIX } from './exec-start.ts';
import { GitWatch, type GitAnswer, type GitCall } from './git-run.ts';

/**
 * Runs one git command that reads and is short, as `runGit` does, without loading simple-git: a run asks two questions
 * before its first request, and waits for the answers.
 */
export async function quickGit(call: GitCall, args: readonly string[]): Promise<GitAnswer> {
  const marker = `${MARKER_PREFIX}${randomBytes(12).toString('hex')}`;
  const watch = new GitWatch({ marker: `${marker}=1` }, call);
  try {
    const child = spawn('git', args, {
      cwd: call.cwd,
      env: { ...call.env, [marker]: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let stderr = '';
    watch.read(child.stdout);
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    await new Promise<void>((resolve) => {
      child.once('close', (code) => {
        watch.finish(code, stderr);
        resolve();
      });
      child.once('error', (error) => {
        watch.finish(null, error.message); // ENOENT: git is not there, or the folder is not
        resolve();
      });
    });
    return watch.answer();
  } finally {
    watch.release();
  }
}
