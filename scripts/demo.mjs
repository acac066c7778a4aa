// Runs an example, the review unless one is named, on a small git repository made for the occasion: a scripted model,
// real tools, no key. `npm run demo -- NAME [OPTIONS]`.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url));
const CLI = fileURLToPath(new URL('../dist/cli.mjs', import.meta.url));

const given = process.argv.slice(2);
const name = given[0]?.startsWith('-') === false ? given.shift() : 'review-diff';
const files = await readdir(join(EXAMPLES, name)).catch(() => []);
const task = files.find((file) => /^task\.(json|yaml)$/.test(file));
if (task === undefined || !files.includes('make-history.mjs')) {
  const all = await readdir(EXAMPLES, { withFileTypes: true });
  const jobs = all.filter((entry) => existsSync(join(EXAMPLES, entry.name, 'make-history.mjs')));
  const names = jobs.map((entry) => entry.name);
  console.error(`demo: found ${JSON.stringify(name)}, expected one of ${names.join(', ')}`);
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'agent-run-demo-'));
const workspace = join(folder, 'workspace');
const out = join(folder, 'run');
await mkdir(workspace);
const {
  default: makeHistory,
  ARGS = [],
  ENV = {},
  ENDPOINT,
} = await import(pathToFileURL(join(EXAMPLES, name, 'make-history.mjs')).href);
await makeHistory(workspace);

const played = ENDPOINT ? await playFrom(ENDPOINT) : undefined;
const args = [
  CLI,
  join(played?.folder ?? join(EXAMPLES, name), task),
  '--workspace',
  workspace,
  '--out',
  out,
  ...ARGS,
  ...given,
];
const child = spawn(process.execPath, args, { cwd: workspace, stdio: 'inherit', env: { ...process.env, ...ENV } });
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`demo: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  console.error(`demo: workspace ${workspace}`);
  console.error(`demo: run folder ${out} (summary.md first; result.json, transcript.jsonl, usage.json)`);
  process.exit(code ?? 128 + constants.signals[signal]);
});

/** A copy of the example whose model is an endpoint on this machine in place of the one it names. */
async function playFrom(endpoint) {
  const { playScript } = await import(pathToFileURL(join(EXAMPLES, 'play-script.mjs')).href);
  const { url } = await playScript(join(EXAMPLES, name, 'script.json'));
  const copy = join(folder, 'example');
  await cp(join(EXAMPLES, name), copy, { recursive: true });
  const text = await readFile(join(copy, task), 'utf8');
  await writeFile(join(copy, task), text.replace(endpoint, url));
  return { folder: copy };
}
