// What the last whole check came to, so that one of the same tree need not run again: `npm run check -- --again` runs it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const FILE = 'node_modules/.cache/agent-run/check.json';
/** What tests use where it is there, and leave out where it is not. */
const PROGRAMS = ['bwrap', 'chromium', 'go', 'python3', 'git', 'ps'];

/** Stands for everything a check depends on: each file of the tree, Node, the programs on PATH, our variables; undefined outside a git clone. */
export function fingerprint(root, env, suites) {
  const listed = spawnSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root, maxBuffer: 1e8 });
  if (listed.status !== 0) return undefined;
  const hash = createHash('sha256');
  for (const path of [...new Set(listed.stdout.toString('utf8').split('\0'))].filter(Boolean).sort()) {
    const file = join(root, path);
    hash.update(
      `${path}\0${existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'gone'}\0`,
    );
  }
  const variables = Object.entries(env).filter(([name]) => name.startsWith('AGENT_RUN_') || name === 'PATH');
  const programs = PROGRAMS.map((name) => (env.PATH ?? '').split(delimiter).find((dir) => existsSync(join(dir, name))));
  hash.update(
    JSON.stringify([
      suites,
      process.version,
      process.platform,
      process.getuid?.(),
      Object.fromEntries(variables.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      programs,
    ]),
  );
  return hash.digest('hex');
}

/** The closing lines of a check of the same tree that passed, and when that was; undefined: there is none. */
export function recall(root, key) {
  try {
    const kept = JSON.parse(readFileSync(join(root, FILE), 'utf8'));
    return key !== undefined && kept.key === key && Array.isArray(kept.lines) ? kept : undefined;
  } catch {
    return undefined; // ENOENT: nothing was kept; SyntaxError: it was cut
  }
}

/** Keeps what a check came to that passed. */
export function keep(root, key, lines) {
  if (key === undefined) return;
  mkdirSync(dirname(join(root, FILE)), { recursive: true });
  writeFileSync(join(root, FILE), JSON.stringify({ key, time: new Date().toISOString(), lines }));
}
