import { randomBytes } from 'node:crypto';
import type { SimpleGitOptions } from 'simple-git';
import { errorText } from '../core/errors.ts';
import { MARKER_PREFIX } from './exec-start.ts';
import { holdTree, killTree } from './process-tree.ts';

/** How git is called: folder, whole environment and the time one call may take. */
export interface GitCall {
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeout_ms: number;
  /** Ends git before its time. */
  signal?: AbortSignal;
}

export interface GitAnswer {
  /** 0 and 1 as git means them; -1 when it did not start, took too long or said too much. */
  code: number;
  stdout: Buffer;
  stderr: string;
}

const MOST_BYTES = 256 * 1024 * 1024;

// simple-git refuses such settings, because they may come from a user; ours are constants that switch helpers off.
const OWN_SETTINGS: Exclude<SimpleGitOptions['unsafe'], undefined> = {
  allowUnsafeAskPass: true,
  allowUnsafeCommandBinaries: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeDiffExternal: true,
  allowUnsafeDiffTextConv: true,
  allowUnsafeEditor: true,
  allowUnsafeFilter: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeGitProxy: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeHooksPath: true,
  allowUnsafeMergeDriver: true,
  allowUnsafePack: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
  allowUnsafeSubmodule: true,
};

/** Runs one git command; never throws for what git does. Its helpers end with it at the timeout. */
export async function runGit(call: GitCall, args: readonly string[], input?: Buffer): Promise<GitAnswer> {
  if (call.signal?.aborted) return { code: -1, stdout: Buffer.alloc(0), stderr: 'git was cancelled' };
  const marker = `${MARKER_PREFIX}${randomBytes(12).toString('hex')}`;
  const env = { ...call.env, [marker]: '1' };
  const watch = new GitWatch({ marker: `${marker}=1` }, call);
  try {
    const { simpleGit } = await import('simple-git');
    const git = simpleGit({
      baseDir: call.cwd,
      allowEnvironment: Object.keys(env),
      unsafe: OWN_SETTINGS,
      completion: { onClose: true, onExit: false },
      // Without any input simple-git leaves the pipe open, and a git that reads would wait.
      input: () => input ?? '\n',
      errors: (_error, result) => watch.finish(result.exitCode, Buffer.concat(result.stdErr).toString('utf8')),
    });
    git.env(env).outputHandler((_command, stdout) => watch.read(stdout));
    await git.raw([...args]);
    return watch.answer();
  } catch (error) {
    return { code: -1, stdout: Buffer.alloc(0), stderr: watch.stopped ?? errorText(error) };
  } finally {
    watch.release();
  }
}

/** Collects what one git process says, and ends it when it takes too long or says too much. */
export class GitWatch {
  /** Why the process was ended by us. */
  stopped: string | undefined;
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private code = -1;
  private stderr = '';
  private readonly tree: { marker: string };
  private readonly timer: NodeJS.Timeout;
  private readonly letGo: () => void;
  private readonly signal: AbortSignal | undefined;
  private readonly cancel = (): void => this.stop('git was cancelled');

  constructor(tree: { marker: string }, { timeout_ms, signal }: GitCall) {
    this.tree = tree;
    this.letGo = holdTree(tree);
    this.timer = setTimeout(() => this.stop(`git took longer than ${timeout_ms} ms`), timeout_ms);
    this.signal = signal;
    signal?.addEventListener('abort', this.cancel);
  }

  read(stdout: NodeJS.ReadableStream): void {
    stdout.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      if (this.bytes > MOST_BYTES) this.stop(`git said more than ${MOST_BYTES} bytes; name fewer paths`);
      else this.chunks.push(chunk);
    });
  }

  /** Takes the exit code from simple-git's error filter; undefined tells it that nothing is wrong. */
  finish(code: number | null, stderr: string): undefined {
    this.code = code ?? -1;
    this.stderr = stderr;
  }

  answer(): GitAnswer {
    if (this.stopped !== undefined) return { code: -1, stdout: Buffer.alloc(0), stderr: this.stopped };
    if (this.code < 0 && this.stderr.includes('ENOENT')) this.stderr = 'git is not installed, or not on PATH';
    return { code: this.code < 0 ? -1 : this.code, stdout: Buffer.concat(this.chunks), stderr: this.stderr.trim() };
  }

  release(): void {
    clearTimeout(this.timer);
    this.signal?.removeEventListener('abort', this.cancel);
    this.letGo();
  }

  private stop(reason: string): void {
    this.stopped ??= reason;
    killTree(this.tree);
  }
}
