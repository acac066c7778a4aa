// Many small scripted runs in one process, beside as many processes of one run each.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { row } from '../figures.mjs';
import { CLI, runNode } from '../world.mjs';

const RUNS = 200;
/** Processes that are really started: a run costs the same in each, so the rest is multiplied. */
const STARTED = 40;
const WORKERS = 4;
const TURNS = [{ tool_use: [{ name: 'read_file', input: { path: 'README.md' } }] }, { text: 'Done.' }];

export async function measure({ world, short }) {
  const task = join(world.folder, 'small.json');
  const model = { provider: 'script', id: 'script', script: { turns: TURNS } };
  const inputs = { n: { default: '0' } };
  writeFileSync(
    task,
    JSON.stringify({ version: 1, prompt: 'Run {{ inputs.n }}', inputs, tools: { read_file: {} }, model }),
  );
  const rows = Array.from({ length: RUNS }, (_, n) => JSON.stringify({ name: `row-${n}`, inputs: { n: String(n) } }));
  writeFileSync(join(world.folder, 'rows.jsonl'), `${rows.join('\n')}\n`);
  const one = await inOneProcess(world, task);
  const all = ((await inProcesses(world, task, short ? STARTED / 4 : STARTED)) * RUNS) / 1000;
  const seconds = (one.ended - one.started) / 1000;
  return [
    row(`${RUNS} runs in one process, peak memory`, one.peak_mb, { unit: 'MB' }),
    row(`${RUNS} processes over ${RUNS} runs in one`, all / seconds, {
      ours: all,
      reference: seconds,
      unit_of_sides: 's',
    }),
  ];
}

async function inOneProcess(world, task) {
  const out = join(world.folder, 'batch-run');
  const options = ['--rows', join(world.folder, 'rows.jsonl'), '--workers', String(WORKERS), '--out', out];
  const args = [CLI, 'run', task, '--workspace', world.workspace, '--quiet', ...options];
  const result = await runNode(world, args, join(world.folder, 'batch.peak'));
  if (result.code !== 0) throw new Error(`the batch ended with code ${result.code}: ${result.stderr.slice(-1000)}`);
  const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'));
  if (report.runs?.length !== RUNS) throw new Error(`the batch has ${report.runs?.length} of ${RUNS} runs`);
  return result;
}

/** Milliseconds for one of several runs in processes of their own, as many at once as the batch has workers. */
async function inProcesses(world, task, count) {
  const began = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const out = join(world.folder, `single-${(next += 1)}`);
      const args = [CLI, task, '--input', `n=${next}`, '--workspace', world.workspace, '--quiet', '--out', out];
      const { code, stderr } = await runNode(world, args);
      if (code !== 0) throw new Error(`a run ended with code ${code}: ${stderr.slice(-1000)}`);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return (performance.now() - began) / count;
}
