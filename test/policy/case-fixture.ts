import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FileToolName, ToolRules } from '../../src/core/config.ts';
import type { Boundary } from '../../src/core/ports.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';

export interface Check {
  type: string;
  path?: string;
  text?: string;
  ms?: number;
  mb?: number;
}

export interface FileCase {
  id: string;
  description: string;
  policy: { write?: string[]; read?: string[]; git?: string[]; bash?: string[]; task?: string; run?: string };
  setup?: Record<string, string | number>[];
  tool: string;
  input: Record<string, unknown>;
  expected: 'allow' | 'deny' | 'contained';
  check?: Check[];
}

export interface Fixture {
  root: string;
  outside: string;
  /** Puts the fixture's own values in place of the placeholders of a text. */
  fill(text: string): string;
}

const FILES = {
  'README.md': 'hello\n',
  'src/app.ts': 'export {};\n',
  'data.csv': 'a,b\n1,2\n3,4\n',
  'package.json': '{"scripts":{"test":"true","lint":"true","build":"true"}}\n',
};
const CANARY = 'canary-7f3a9b51c2';

/** A boundary without a sandbox, with the few variables that a tool gets. */
export function plainBoundary(home: string): Boundary {
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  return {
    state: { mode: 'off', active: 'none', detail: 'test' },
    env,
    wrap: (argv, cwd) => ({ argv: [...argv], cwd, env }),
  };
}

let template: string | undefined;

/** The repository of the case file's conventions, with one commit; made once, because git takes most of a case's time. */
function repository(): string {
  if (template !== undefined) return template;
  const folder = mkdtempSync(join(tmpdir(), 'agent-run-cases-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeTree(folder, FILES);
  git(folder, ['init', '-q', '-b', 'main']);
  git(folder, ['add', '-A']);
  git(folder, ['commit', '-q', '-m', 'first']);
  template = folder;
  return folder;
}

/** A fresh copy of the repository, and a folder outside it. */
export function makeFixture(): Fixture {
  const base = tempFolder();
  const root = join(base, 'ws');
  const outside = join(base, 'outside');
  mkdirSync(outside);
  cpSync(repository(), root, { recursive: true, preserveTimestamps: true });
  const values: Record<string, string> = { '{{WS}}': root, '{{OUTSIDE}}': outside, '{{CANARY}}': CANARY };
  const fill = (text: string): string =>
    text
      .replace(/(.)\{\{REPEAT:(\d+)\}\}/s, (_all, character: string, count: string) => character.repeat(Number(count)))
      .replaceAll(/\{\{[A-Z]+\}\}/g, (name) => values[name] ?? name);
  return { root, outside, fill };
}

function git(cwd: string, args: string[]): void {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...who, ...args], { cwd, stdio: 'ignore' });
}

/** Carries out the setup steps of a case. */
export async function setUp(fixture: Fixture, steps: FileCase['setup'] = []): Promise<void> {
  for (const raw of steps) {
    const step = Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, fixture.fill(String(value))]));
    await setUpStep(fixture, step);
  }
}

async function setUpStep({ root, outside }: Fixture, step: Record<string, string>): Promise<void> {
  const place = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  if (step['file'] !== undefined) writeFileSync(place(step['file']), step['text'] ?? '');
  if (step['dir'] !== undefined) mkdirSync(place(step['dir']), { recursive: true });
  if (step['symlink'] !== undefined) symlinkSync(step['to'] ?? '', place(step['symlink']));
  if (step['fifo'] !== undefined) execFileSync('mkfifo', [place(step['fifo'])]);
  if (step['outsideFile'] !== undefined) writeFileSync(join(outside, step['outsideFile']), step['text'] ?? '');
  if (step['siblingFile'] !== undefined)
    writeTree(`${root}${dirname(step['siblingFile'])}`, { 'key.txt': step['text'] ?? '' });
  if (step['sparse'] !== undefined) {
    writeFileSync(place(step['sparse']), '');
    truncateSync(join(root, step['sparse']), Number(step['bytes']));
  }
  if (step['script'] !== undefined) {
    writeFileSync(place(step['script']), step['text'] ?? '');
    chmodSync(join(root, step['script']), 0o755);
  }
  if (step['unixSocket'] !== undefined) await listen(place(step['unixSocket']));
}

async function listen(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  onTestFinished(() => void server.close());
}

/** The tool rules that a case's policy stands for. */
export function rulesOf({ policy }: FileCase): ToolRules[] {
  const limits = { max_output_bytes: 30 * 1024, on_denied: 'continue' } as const;
  const file = (name: FileToolName, paths?: string[]): ToolRules => ({ name, ...(paths && { paths }), ...limits });
  const reads = (['read_file', 'glob', 'grep'] as const).map((name) => file(name, policy.read));
  const writes = policy.write ? (['write_file', 'edit_file'] as const).map((name) => file(name, policy.write)) : [];
  const bash: ToolRules[] = policy.bash ? [{ name: 'bash', allow: policy.bash, deny: [], ...limits }] : [];
  const allow = policy.git ?? ['log', 'diff', 'show', 'blame', 'status'];
  return [...reads, ...writes, ...bash, { name: 'git', allow, ...limits }];
}
