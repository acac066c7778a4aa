import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service, ServiceOptions, StartService } from '../core/ports.ts';
import { type Exit, OPEN_INPUT, type Started, startProcess } from './exec-start.ts';
import { endTree, holdTree, killTree } from './process-tree.ts';
import { defaultLimits, watchTree } from './tree-limits.ts';

/** A server that sees the end of its input may leave by itself. */
const LEAVE_MS = 300;
/** Half of it for what runs in a sandbox, half for the sandbox. */
const GRACE_MS = 500;
const DRAIN_MS = 300;

/** Starts a process that runs beside the calls; see `StartService`. */
export const serve: StartService = async (argv, options) => {
  const wrapped = options.boundary.wrap(argv, options.cwd);
  const child = await startProcess(wrapped, OPEN_INPUT);
  if (!child.ok) {
    wrapped.release?.();
    return child;
  }
  return { ok: true, service: createService(child, options, () => wrapped.release?.()) };
};

function createService(child: Started, { onStdout, onStderr }: ServiceOptions, release: () => void): Service {
  const { tree, stdin, stdout, stderr } = child;
  const letGo = holdTree(tree);
  let excess: string | undefined;
  let over = false;
  const unwatch = watchTree(tree, defaultLimits(), (what) => {
    excess = what;
    void endTree(tree, 0);
  });
  stdout.on('data', onStdout);
  stderr.on('data', onStderr);
  // EPIPE, a destroyed pipe: that it ended is told by its exit.
  for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => {});
  const exited = child.exited.then(async (exit) => {
    unwatch();
    await endTree(tree, GRACE_MS);
    await drain(child);
    return wordEnd(exit, excess);
  });
  const close = (): void => {
    if (over) return;
    over = true;
    unwatch();
    letGo();
    release();
  };
  return {
    write: (text) => void (stdin?.writable && stdin.write(text)),
    exited,
    async end() {
      stdin?.end();
      await Promise.race([child.exited, sleep(LEAVE_MS, undefined, { ref: false })]);
      await endTree(tree, GRACE_MS);
      close();
    },
    kill() {
      killTree(tree);
      close();
    },
  };
}

/** What it wrote last is still in the pipes. */
async function drain({ stdin, stdout, stderr }: Started): Promise<void> {
  const closed = [stdout, stderr].filter((stream) => !stream.closed).map(async (stream) => once(stream, 'close'));
  const all = Promise.allSettled(closed);
  await Promise.race([all, sleep(DRAIN_MS, undefined, { ref: false })]);
  for (const stream of [stdin, stdout, stderr]) stream?.destroy();
}

function wordEnd({ code, signal }: Exit, excess: string | undefined): string {
  if (excess !== undefined) return `it was ended: it took ${excess}`;
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}
