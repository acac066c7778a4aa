import { existsSync, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { randomBytes } from 'node:crypto';
import { errorText } from '../core/errors.ts';
import type { Wrapped } from '../core/ports.ts';
import { openInput } from './input-file.ts';
import { ticksNow } from './process-list.ts';
import type { ProcessTree } from './process-tree.ts';
import { systemCode } from './system-error.ts';

export interface Started {
  ok: true;
  tree: ProcessTree;
  /** Only of an input that stays open. */
  stdin: Writable | null;
  stdout: Readable;
  stderr: Readable;
  exited: Promise<Exit>;
}

export interface Exit {
  code: number | null;
  signal: string | null;
}

/** Variables with this beginning mark what belongs to a call; a runner inside a runner passes them on. */
export const MARKER_PREFIX = 'AGENT_RUN_CALL_';

/** An input that is written to while the process runs. */
export const OPEN_INPUT = Symbol('open input');

/** Starts an argument list in a process group of its own; what cannot start is a value with the reason. */
export async function startProcess(
  wrapped: Wrapped,
  stdin: string | typeof OPEN_INPUT | undefined,
): Promise<Started | { ok: false; reason: string }> {
  const [file, ...args] = wrapped.argv;
  if (!file) return { ok: false, reason: 'the command is empty' };
  const marker = `${MARKER_PREFIX}${randomBytes(12).toString('hex')}`;
  const { execa } = await import('execa');
  let input: ReturnType<typeof openInput> | undefined;
  const since = ticksNow();
  try {
    input = typeof stdin === 'string' ? openInput(stdin) : undefined;
    const without = stdin === OPEN_INPUT ? 'pipe' : 'ignore';
    const child = execa(file, args, {
      cwd: wrapped.cwd,
      env: { ...wrapped.env, [marker]: '1' },
      extendEnv: false,
      stdin: input ? (input.descriptor as 3) : without, // any descriptor is taken; execa's types stop at 9
      buffer: false,
      encoding: 'buffer',
      reject: false,
      detached: true,
      cleanup: false,
      verbose: 'none',
    });
    if (child.pid === undefined) return startFailure((await child).cause, file, wrapped);
    child.catch(() => {}); // the promise waits for the pipes, which we may destroy
    const exited = new Promise<Exit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    const { holder } = wrapped;
    const wrapper = holder === undefined ? {} : { wrapper: holder };
    const tree = { root: child.pid, marker: `${marker}=1`, since, ...wrapper };
    return { ok: true, tree, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited };
  } catch (error) {
    return startFailure(error, file, wrapped);
  } finally {
    input?.close(); // the child has its own
  }
}

function startFailure(error: unknown, file: string, { cwd, argv }: Wrapped): { ok: false; reason: string } {
  return { ok: false, reason: startReason(error, file, cwd, argv) };
}

function startReason(error: unknown, file: string, cwd: string, argv: readonly string[]): string {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return 'the folder to run in does not exist';
  switch (systemCode(error)) {
    case 'ENOENT':
      if (!file.includes('/')) return `${file}: command not found on PATH`;
      return existsSync(file) ? `${file}: the interpreter of its first line is missing` : `${file}: no such file`;
    case 'EACCES':
      return `${file}: permission denied; is it a program and executable?`;
    case 'E2BIG': {
      const bytes = argv.reduce((sum, argument) => sum + Buffer.byteLength(argument) + 1, 0);
      return `${file}: ${bytes} bytes of arguments are more than the system takes; use stdin or a file`;
    }
    default:
      return `${file}: cannot start: ${systemCode(error) ?? errorText(error)}`;
  }
}
