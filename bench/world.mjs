// What every scenario needs: a folder with a small repository, the scripted server, and the two programs to start.

import { execFileSync, fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const CLI = join(ROOT, 'dist/cli.mjs');
const HERE = fileURLToPath(new URL('.', import.meta.url));
const KEY = 'sk-ant-api03-not-a-real-key-0123456789';

/** Milliseconds on a clock that all processes of the machine share. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Opens a world for one bench run; `node` is the program both sides run on. */
export async function openWorld(node) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-run-bench-')));
  const workspace = join(folder, 'workspace');
  makeRepository(workspace);
  const server = fork(join(HERE, 'server.mjs'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [{ port }] = await onceMessage(server);
  const world = { folder, workspace, node, url: `http://127.0.0.1:${port}`, count: 0 };
  return {
    ...world,
    close() {
      server.disconnect();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeRepository(folder) {
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(join(folder, 'README.md'), '# A small repository\n');
  for (let n = 1; n <= 20; n += 1) writeFileSync(join(folder, `src/file-${n}.js`), `export const n = ${n};\n`);
  const git = (...args) => execFileSync('git', ['-C', folder, '-c', 'user.name=b', '-c', 'user.email=b@b', ...args]);
  execFileSync('git', ['init', '-q', folder]);
  git('add', '.');
  git('commit', '-q', '-m', 'Start');
}

function onceMessage(child) {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve([message]));
    child.once('exit', (code) => reject(new Error(`the server ended with code ${code}`)));
  });
}

/** Runs our program on a task in its own session of the server; `fields` are the task's besides prompt and model. */
export function runOurs(world, turns, fields = {}, options = {}) {
  return runAgainst(world, turns, options, (base_url, name) => {
    const file = join(world.folder, `${name}.json`);
    const model = { provider: 'anthropic', id: 'claude-sonnet-5-5', base_url };
    writeFileSync(file, JSON.stringify({ version: 1, prompt: 'Do what is asked.', ...fields, model }));
    return [CLI, file, '--workspace', world.workspace, '--out', join(world.folder, `${name}-run`)];
  });
}

/** Runs the minimal client on the same turns. */
export function runReference(world, turns, fields = {}, options = {}) {
  return runAgainst(world, turns, options, (base_url, name) => {
    const file = join(world.folder, `${name}-reference.json`);
    writeFileSync(file, JSON.stringify({ base_url, prompt: 'Do what is asked.', ...fields }));
    return [join(HERE, 'reference.mjs'), file];
  });
}

/** Without turns the conversation is with the server at `world.elsewhere`, which checks it by itself. */
async function runAgainst(world, turns, { peak = false }, argumentsFor) {
  if (world.elsewhere) {
    const child = await runNode(world, argumentsFor(world.elsewhere, 'elsewhere'));
    if (child.code !== 0) throw new Error(`exit ${child.code}: ${child.stderr.slice(-2000)}`);
    return child;
  }
  const { id } = await talk(`${world.url}/bench`, { method: 'POST', body: JSON.stringify({ turns }) });
  const args = argumentsFor(`${world.url}/${id}`, id);
  const child = await runNode(world, args, peak ? join(world.folder, `${id}.peak`) : undefined);
  const { requests, failures } = await talk(`${world.url}/bench/${id}`);
  const complete = requests.length === turns.length && child.code === 0 && failures.length === 0;
  if (!complete) {
    const facts = `exit ${child.code}, ${requests.length} of ${turns.length} requests, ${failures.join('; ')}`;
    throw new Error(`${args.join(' ')}: ${facts}\n${child.stderr.slice(-2000)}`);
  }
  return { ...child, requests };
}

/** Starts Node on some arguments in a clean environment and waits for its end; times in milliseconds, memory in MiB. */
export async function runNode(world, args, peakFile) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, LANG: 'C.UTF-8', ANTHROPIC_API_KEY: KEY };
  const more = peakFile && { BENCH_PEAK: peakFile, NODE_OPTIONS: `--require=${join(HERE, 'peak.cjs')}` };
  const started = now();
  const child = spawn(world.node, args, {
    cwd: world.folder,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const code = await new Promise((resolve) => child.on('close', resolve));
  const peak_mb = peakFile ? Number(readFileSync(peakFile, 'utf8')) / 1024 : undefined;
  return { started, ended: now(), code, stderr, peak_mb };
}

async function talk(url, init) {
  const response = await fetch(url, init);
  return response.json();
}
