// The action as a version tag ships it, and as a ref without dist/ makes itself ready.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ROOT } from '../helpers/pages.ts';
import { setUpStep, type StageEnd, startStage, type StepSetup } from '../helpers/runner.ts';
import { tempFolder, writeTree } from '../helpers/temp.ts';

// Each test starts real processes, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const NODE_24 = join(ROOT, 'tools/node24/node_modules/.bin/node');
const NO_GIT = 'needs a git clone';
const HELLO: StepSetup = { turns: [{ text: 'Hello.', tool_use: [] }] };

async function runMain(action: string, setup: StepSetup = HELLO, node?: string): Promise<StageEnd> {
  return startStage(setUpStep(setup), join(action, 'action/main.mjs'), node).done;
}

describe('the packed tree', () => {
  let action: string;
  beforeAll(() => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-run-packed-')));
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
      cwd: ROOT,
      stdio: 'pipe',
    });
    execFileSync('tar', ['-xzf', join(folder, 'agent-run-0.1.0.tgz'), '-C', folder]);
    action = join(folder, 'package');
  });
  afterAll(() => rmSync(join(action, '..'), { recursive: true, force: true }));

  test('holds what action.yml starts, and no package', () => {
    const files = readFileSync(join(action, 'action.yml'), 'utf8').matchAll(/^ {2}(?:main|pre|post): (\S+)$/gm);
    const named = [...files].map((match) => match[1] ?? '');
    expect(named).toContain('action/main.mjs');
    expect(named.filter((name) => !existsSync(join(action, name)))).toEqual([]);
    expect(existsSync(join(action, 'node_modules'))).toBe(false);
  });

  test.for([
    ['the Node of these tests', process.execPath],
    ['the Node 24 of the runner', NODE_24],
  ] as const)('runs a step with nothing installed, on %s', async ([, node], { skip }) => {
    skip(!existsSync(node), 'needs tools/node24, which npm run test:node24 installs');
    const { status, log, outputs } = await runMain(action, HELLO, node);
    expect(status, log).toBe(0);
    expect(outputs).toMatchObject({ status: 'success', output: 'Hello.' });
    expect(log).not.toContain('holds no dist/');
  });
});

describe('a ref without dist/', () => {
  /** The files that git knows, as the runner unpacks them. */
  function unpacked(): string {
    const folder = tempFolder();
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
    for (const name of listed.toString('utf8').split('\0'))
      if (name !== '' && existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(folder, name));
    return folder;
  }

  /** Stands in for npm: tells what it was started with, and installs by a link to our own packages. */
  function fakeNpm(folder: string, script: string): Record<string, string> {
    writeTree(folder, { 'fake/npm.cjs': script });
    return { npm_execpath: join(folder, 'fake/npm.cjs') };
  }
  const LINKING = `
    require('node:fs').symlinkSync(${JSON.stringify(join(ROOT, 'node_modules'))}, 'node_modules');
    console.log('npm', process.argv.slice(2).join(' '));
    console.log('sees', Object.keys(process.env).sort().join(' '));`;

  test('installs what the lock file pins, builds, runs, and does so once', async ({ skip }) => {
    skip(!existsSync(join(ROOT, '.git')), NO_GIT);
    const action = unpacked();
    const env = { ...fakeNpm(action, LINKING), SECRET_OF_THE_STEP: 'x', npm_config_registry: 'http://127.0.0.1:9' };
    const inputs = { 'anthropic-api-key': 'sk-ant-not-for-npm' };
    const first = await runMain(action, { ...HELLO, env, inputs });
    expect(first.status, first.log).toBe(0);
    expect(first.outputs).toMatchObject({ status: 'success', output: 'Hello.' });
    expect(first.log).toContain('npm ci --include=dev --ignore-scripts');
    expect(/^sees (.*)$/m.exec(first.log)?.[1]).toBe('HOME PATH npm_config_registry');
    expect(first.log).toMatch(/agent-run: installed and built in [\d.]+ s/);
    const second = await runMain(action, { ...HELLO, env });
    expect(second.log).not.toContain('installed and built');
  });

  test.for([
    ['that does not come through', `console.error('npm error network'); process.exit(1);`, 'installing the packages'],
    ['that brings too little', '', 'building dist/ failed'],
  ])('says why it cannot, after an install %s, and is no run', async ([, script = '', text = ''], { skip }) => {
    skip(!existsSync(join(ROOT, '.git')), NO_GIT);
    const action = unpacked();
    const { status, log, outputs, summary } = await runMain(action, { ...HELLO, env: fakeNpm(action, script) });
    expect(status).toBe(1);
    expect(outputs).toEqual({ status: 'failure', 'exit-reason': 'io_error', 'exit-code': '1' });
    expect(log.match(/^::error .*$/gm)).toHaveLength(1);
    expect(log).toContain(text);
    expect(log).toContain('use a version tag');
    expect(summary).toBe('');
    expect(readdirSync(action)).not.toContain('dist');
  });
});
