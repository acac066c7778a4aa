import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resume } from '../../src/run/resume.ts';
import { calls, ofType, tell, told } from './harness.ts';
import type { ScriptTurn } from '../../src/core/config.ts';
import type { Told } from './harness.ts';

const usage = { input_tokens: 9000, output_tokens: 50 };
const TURNS: ScriptTurn[] = [
  { ...calls(['write_file', { path: 'a.txt', file_text: 'one\n' }]), usage },
  { text: 'a.txt is written, a.txt is to be read' },
  calls(['read_file', { path: 'a.txt' }]),
  { text: 'done', expect: 'one' },
];

function modelOf(turns: ScriptTurn[]) {
  return { provider: 'script', id: 'script', context_tokens: 10_000, script: { turns } };
}

async function again({ run_dir, workspace }: Told, prompt?: string): Promise<Told> {
  const request = { run_dir, limits: {}, allow_changed: false, env: {}, subscribers: () => [] };
  return told(await resume({ ...request, ...(prompt === undefined ? {} : { prompt }) }), workspace);
}

test('a run that is stopped anywhere around its compaction goes on to the same end', { timeout: 60_000 }, async () => {
  const whole = await tell({ task: { tools: { read_file: {}, write_file: {} } }, model: modelOf(TURNS) });
  expect(whole.outcome.reason).toBe('completed');
  const file = join(whole.run_dir, 'transcript.jsonl');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  for (let kept = 1; kept < lines.length; kept += 1) {
    writeFileSync(file, `${lines.slice(0, kept).join('\n')}\n`);
    const resumed = await again(whole);
    const context = `after ${kept} events`;
    expect(resumed.outcome, context).toEqual({ reason: 'completed' });
    expect(resumed.output_text, context).toBe('done');
    expect(resumed.result['turns'], context).toBe(4);
    expect(ofType(resumed.events, 'compacted'), context).toHaveLength(1);
    const writes = ofType(resumed.events, 'tool_start').filter(({ effect }) => effect === 'write');
    expect(writes, context).toHaveLength(1);
  }
});

test('a follow-up that is worked on stands in the fresh conversation too', async () => {
  const turns: ScriptTurn[] = [
    { text: 'blue' },
    { ...calls(['read_file', { path: 'README.md' }]), usage },
    { text: 'the sky was read about' },
    { text: 'because' },
  ];
  const first = await tell({ task: { tools: { read_file: {} } }, model: modelOf(turns) });
  const run = await again(first, 'Why blue?');
  expect(run.output_text).toBe('because');
  const [compacted] = ofType(run.events, 'compacted');
  expect(compacted?.summary).toMatchObject([
    { text: 'Do it.' },
    { text: 'Why blue?' },
    { text: expect.stringContaining('the sky was read about') },
  ]);
});
