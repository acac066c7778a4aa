// Runs the example review on a small git repository made for the occasion: a scripted model, real tools, no key.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const EXAMPLE = fileURLToPath(new URL('../examples/review-diff', import.meta.url));
const CLI = fileURLToPath(new URL('../dist/cli.mjs', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'agent-run-demo-'));
const workspace = join(folder, 'workspace');
const out = join(folder, 'run');
await mkdir(workspace);
const { default: makeHistory } = await import('../examples/review-diff/make-history.mjs');
await makeHistory(workspace);

const args = [CLI, join(EXAMPLE, 'task.json'), '--workspace', workspace, '--out', out, ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: 'inherit' });
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`demo: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  console.error(`demo: workspace ${workspace}`);
  console.error(`demo: run folder ${out} (result.json, transcript.jsonl, usage.json)`);
  process.exit(code ?? 128 + constants.signals[signal]);
});
