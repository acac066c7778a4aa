import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll } from 'vitest';
import { writeTree } from '../../helpers/temp.ts';
import { startListeners, type Listeners } from './listeners.ts';

export interface Fixture {
  /** Parent of all the folders below. */
  base: string;
  workspace: string;
  outside: string;
  home: string;
  runner_temp: string;
  run_dir: string;
  /** Known to the runner as a secret. */
  canary: string;
  /** A text of the runner that looks like nothing and so is never masked: it shows what masking would hide. */
  plain: string;
  listeners: Listeners;
  /** The runner's own environment. */
  env: Record<string, string>;
  /** What to end and remove when the case is over. */
  closers: (() => void)[];
}

const FILES = {
  'README.md': 'hello\n',
  'src/app.ts': 'export const app = 1;\n',
  'data.csv': 'b,2\na,1\nc,3\n',
  'package.json': '{"name":"w","version":"1.0.0","scripts":{"test":"true","lint":"true","build":"true"}}\n',
};

let template: string | undefined;
afterAll(() => {
  if (template !== undefined) rmSync(template, { recursive: true, force: true });
});

/** The repository of the conventions, with one commit; made once, because git takes most of a case's time. */
function repository(): string {
  if (template !== undefined) return template;
  const folder = mkdtempSync(join(tmpdir(), 'agent-run-cases-'));
  writeTree(folder, FILES);
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['commit', '-q', '-m', 'first'],
  ])
    gitIn(folder, args);
  template = folder;
  return folder;
}

/** Runs git as the owner of the workspace, outside any sandbox. */
export function gitIn(cwd: string, args: readonly string[]): void {
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  execFileSync('git', [...who, ...args], { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** A fresh workspace with everything around it that a case may name. */
export async function makeFixture(): Promise<Fixture> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'agent-run-case-')));
  const closers = [() => rmSync(base, { recursive: true, force: true })];
  const place = (name: string): string => {
    mkdirSync(join(base, name));
    return join(base, name);
  };
  const workspace = join(base, 'ws');
  cpSync(repository(), workspace, { recursive: true, preserveTimestamps: true });
  const plain = `mark${randomBytes(10).toString('hex')}`;
  const canary = `canary-${randomBytes(12).toString('hex')}`;
  const runner_temp = place('runner-temp');
  const home = place('home');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    RUNNER_TEMP: runner_temp,
    CORP_TOKEN: canary,
    WORDS_OF_THE_RUNNER: plain,
  };
  const listeners = await startListeners(closers);
  return {
    base,
    workspace,
    outside: place('outside'),
    home,
    runner_temp,
    run_dir: join(base, 'run'),
    canary,
    plain,
    listeners,
    env,
    closers,
  };
}

/** Ends and removes what a case needed, the last first. */
export function closeFixture({ closers }: Fixture): void {
  for (const close of closers.toReversed()) close();
}

/** A text of a case with the fixture's own values in place of the placeholders. */
export function fill(fixture: Fixture, text: string): string {
  const { canary, listeners } = fixture;
  const values: Record<string, string> = {
    WS: fixture.workspace,
    WS_NAME: basename(fixture.workspace),
    OUTSIDE: fixture.outside,
    RUNNER_TEMP: fixture.runner_temp,
    RUN_DIR: fixture.run_dir,
    CANARY: canary,
    'CANARY:base64': Buffer.from(canary).toString('base64'),
    'CANARY:json': JSON.stringify(canary).slice(1, -1),
    LISTENER: listeners.host,
    LISTENER_PORT: String(listeners.port),
  };
  return text
    .replaceAll(/(.)\{\{REPEAT:(\d+)\}\}/gsu, (_all, character: string, count: string) =>
      character.repeat(Number(count)),
    )
    .replaceAll(/\{\{([A-Z_]+(?::[a-z0-9]+)?)\}\}/g, (whole, name: string) => values[name] ?? whole);
}

/** The same for every text inside a value. */
export function fillAll<T>(fixture: Fixture, value: T): T {
  // A reviver of texts keeps the shape of everything else.
  const filled: unknown = JSON.parse(JSON.stringify(value), (_key, item: unknown) =>
    typeof item === 'string' ? fill(fixture, item) : item,
  );
  return filled as T;
}
