import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fill, fillAll, type Fixture, gitIn } from './fixture.ts';
import type { Step } from './cases.ts';

/** Carries out the steps of a case, in order. */
export async function setUp(fixture: Fixture, steps: readonly Step[] = []): Promise<void> {
  for (const step of steps) {
    const name = Object.keys(step)[0] ?? '';
    const carryOut = STEPS[name];
    if (!carryOut)
      throw new Error(`the step ${JSON.stringify(step)} is not known; known: ${Object.keys(STEPS).join(', ')}`);
    await carryOut(fixture, step);
  }
}

type CarryOut = (fixture: Fixture, step: Step) => void | Promise<void>;

const STEPS: Readonly<Record<string, CarryOut>> = {
  file: (fixture, step) => writeFileSync(inWorkspace(fixture, step['file']), textOf(fixture, step['text'] ?? '')),
  script(fixture, step) {
    const path = inWorkspace(fixture, step['script']);
    writeFileSync(path, textOf(fixture, step['text'] ?? ''));
    chmodSync(path, 0o755);
  },
  dir: (fixture, step) => void mkdirSync(inWorkspace(fixture, step['dir']), { recursive: true }),
  symlink: (fixture, step) => symlinkSync(textOf(fixture, step['to']), inWorkspace(fixture, step['symlink'])),
  fifo: (fixture, step) => void execFileSync('mkfifo', [inWorkspace(fixture, step['fifo'])]),
  unixSocket: (fixture, step) => listen(fixture, inWorkspace(fixture, step['unixSocket'])),
  sparse(fixture, step) {
    const path = inWorkspace(fixture, step['sparse']);
    writeFileSync(path, '');
    truncateSync(path, Number(step['bytes']));
  },
  deepDir: (fixture, step) =>
    void mkdirSync(inWorkspace(fixture, `${textOf(fixture, step['deepDir'])}${'/d'.repeat(Number(step['depth']))}`), {
      recursive: true,
    }),
  outsideFile: (fixture, step) => write(join(fixture.outside, textOf(fixture, step['outsideFile'])), fixture, step),
  siblingFile: (fixture, step) => write(`${fixture.workspace}${textOf(fixture, step['siblingFile'])}`, fixture, step),
  homeFile: (fixture, step) => write(join(fixture.home, textOf(fixture, step['homeFile'])), fixture, step),
  runnerTempFile: (fixture, step) =>
    write(join(fixture.runner_temp, textOf(fixture, step['runnerTempFile'])), fixture, step),
  git: (fixture, step) => gitIn(fixture.workspace, marked(fixture, fillAll(fixture, step['git'] as string[]))), // a list, by the conventions
  env: (fixture, step) => void Object.assign(fixture.env, fillAll(fixture, step['env'])),
  race: (fixture, step) => swap(fixture, inWorkspace(fixture, step['race']), textOf(fixture, step['to'])),
};

function textOf(fixture: Fixture, value: unknown): string {
  return fill(fixture, String(value));
}

function inWorkspace(fixture: Fixture, path: unknown): string {
  const full = join(fixture.workspace, textOf(fixture, path));
  mkdirSync(dirname(full), { recursive: true });
  return full;
}

function write(path: string, fixture: Fixture, step: Step): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, secretText(fixture, step));
}

/** Wherever a file out of reach holds the canary it holds the text that nobody masks, too. */
function secretText(fixture: Fixture, step: Step): string {
  return marked(fixture, [textOf(fixture, step['text'] ?? '')])[0] ?? '';
}

function marked({ canary, plain }: Fixture, texts: readonly string[]): string[] {
  return texts.map((text) => text.replaceAll(canary, `${canary} ${plain}`));
}

async function listen({ closers }: Fixture, path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  closers.push(() => void server.close());
}

/** Swaps a folder for a link and back, as fast as a shell can, until the case is over. */
function swap({ closers }: Fixture, folder: string, target: string): void {
  const loop = 'while :; do mv "$1" "$1.real"; ln -s "$2" "$1"; rm "$1"; mv "$1.real" "$1"; done';
  const child = spawn('/bin/sh', ['-c', loop, 'sh', folder, target], { stdio: 'ignore', detached: true });
  closers.push(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    // What it had started may still end its work.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  });
}
