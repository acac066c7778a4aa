// 500 scripted one-turn runs by 8 workers in one process: runs a second, failures, and how memory grows after the first
// 50. Prints one JSON object: `node build.mjs && node bench/batch.mjs [RUNS] [WORKERS]`.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [runs = 500, workers = 8] = process.argv.slice(2).map(Number);
const CLI = fileURLToPath(new URL('../dist/cli.mjs', import.meta.url));
const cwd = mkdtempSync(join(tmpdir(), 'agent-run-bench-'));
mkdirSync(join(cwd, 'workspace'));
const task = {
  name: 'one-turn',
  inputs: { n: { required: true } },
  prompt: 'Say {{ inputs.n }}.',
  model: { provider: 'script', script: { turns: [{ text: 'done' }] } },
  tools: { read_file: {}, grep: {} },
};
writeFileSync(join(cwd, 'task.json'), JSON.stringify(task));
const rows = Array.from({ length: runs }, (_, index) => JSON.stringify({ name: `r${index}`, inputs: { n: index } }));
writeFileSync(join(cwd, 'rows.jsonl'), rows.join('\n'));

const git = spawn('sh', ['-c', 'git init -q . && git add task.json && git -c user.name=a -c user.email=a@b.c commit -qm x'], { cwd }); // prettier-ignore
await new Promise((resolve) => git.on('close', resolve));

const argv = [CLI, 'run', 'task.json', '--rows', 'rows.jsonl', '--workers', String(workers)];
const started = performance.now();
const child = spawn(process.execPath, argv, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
const memory = [];
let ended = 0;
child.stderr.setEncoding('utf8').on('data', (text) => {
  for (const _ of text.matchAll(/^\[\d+\/\d+\] /gm)) {
    ended += 1;
    if (ended % 25 === 0) memory.push({ runs: ended, rss_mb: rss(child.pid) });
  }
});
const code = await new Promise((resolve) => child.on('close', resolve));
const seconds = (performance.now() - started) / 1000;
const { totals } = JSON.parse(readFileSync(join(cwd, 'agent-run-results/report.json'), 'utf8'));
rmSync(cwd, { recursive: true, force: true });
const after50 = memory.find((item) => item.runs >= 50)?.rss_mb ?? null;
const last = memory.at(-1)?.rss_mb ?? null;
const report = {
  runs,
  workers,
  exit_code: code,
  failed: totals.runs - totals.success,
  seconds: Number(seconds.toFixed(2)),
  runs_per_second: Number((runs / seconds).toFixed(1)),
  rss_after_50_mb: after50,
  rss_at_end_mb: last,
  memory,
};
process.stdout.write(`${JSON.stringify(report, null, 1)}\n`);

/** Resident memory of a process in MB, from Linux; null elsewhere. */
function rss(pid) {
  try {
    const [, kb] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kb === undefined ? null : Math.round(Number(kb) / 1024);
  } catch {
    // ENOENT: no /proc, or the process is gone.
    return null;
  }
}
