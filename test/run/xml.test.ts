import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { resume } from '../../src/run/resume.ts';
import { ofType, tell, told } from './harness.ts';
import type { ScriptTurn } from '../../src/core/config.ts';
import type { Story, Told } from './harness.ts';

const SCHEMA = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
const TASK = { tools: { read_file: {}, glob: {}, write_file: {} }, output: { schema: SCHEMA } };

function call(name: string, input: object): string {
  return `<tool_call><name>${name}</name><params>${JSON.stringify(input)}</params></tool_call>`;
}

const READ = call('read_file', { path: 'README.md' });
const WRITE = call('write_file', { path: 'a.txt', file_text: 'one\n' });
const SUBMIT = call('submit_result', { sum: 3 });

/** A scripted model that calls tools in its words. */
function story(turns: (ScriptTurn | string)[], task: Story['task'] = TASK): Story {
  const script = { turns: turns.map((turn) => (typeof turn === 'string' ? { text: turn } : turn)) };
  return { task, model: { provider: 'script', id: 'script', script, tool_protocol: 'xml' } };
}

function results(run: Told): string[] {
  return ofType(run.events, 'tool_end').map(({ name, status }) => `${name} ${status}`);
}

function whys(run: Told): string[] {
  return ofType(run.events, 'turn_start').map(({ reason }) => reason);
}

describe('a run whose model calls in free text', () => {
  test(
    'goes on from its transcript after any event to the same output, with no effect twice',
    { timeout: 120_000 },
    async () => {
      const whole = await tell(
        story([`Look.\n${READ}\n${call('glob', { pattern: '*' })}`, `${WRITE}\n${READ}`, SUBMIT]),
      );
      expect(whole.outcome.reason).toBe('completed');
      const file = join(whole.run_dir, 'transcript.jsonl');
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      const env = { PATH: process.env['PATH'] ?? '' };
      for (let kept = 1; kept < lines.length; kept += 1) {
        writeFileSync(file, `${lines.slice(0, kept).join('\n')}\n`);
        const request = { run_dir: whole.run_dir, limits: {}, allow_changed: false, env, subscribers: () => [] };
        const resumed = told(await resume(request), whole.workspace);
        expect(resumed.outcome, `after ${kept} events`).toEqual({ reason: 'completed' });
        expect(resumed.output_text).toBe(whole.output_text);
        const writes = ofType(resumed.events, 'tool_start').filter(({ effect }) => effect === 'write');
        expect(writes, `after ${kept} events`).toHaveLength(1);
        expect(await replay(resumed), `after ${kept} events`).toMatchObject({ matches: true, divergence: null });
      }
    },
  );

  test('does nothing that it only thought of, and has to say more than its thoughts', async () => {
    const thought = `Let me see.\n<think>\n${WRITE}\n</think>\n<think>\n${WRITE}\n</think>`;
    const begun = `I could\n${WRITE}\nor look:\n${READ}\n</think>\n`;
    const run = await tell(story([`${thought}\n${READ}`, `<think>${WRITE}</think>`, begun, `${begun}${SUBMIT}`]));
    expect(run.outcome.reason).toBe('completed');
    expect(results(run)).toEqual(['read_file ok', 'submit_result ok']);
    expect(whys(run)).toEqual(['prompt', 'tool_results', 'output_missing', 'output_missing']);
    expect(await replay(run)).toMatchObject({ matches: true, divergence: null });
  });

  test('has what is no call answered, counted as a repair, and mended', async () => {
    const open = READ.replace('</params></tool_call>', '');
    const run = await tell(story([`${READ}\n${open}`, `Sure: ${WRITE}`, WRITE, SUBMIT]));
    expect(run.outcome.reason).toBe('completed');
    expect(results(run)).toEqual([
      'read_file ok',
      'read_file invalid',
      'write_file invalid',
      'write_file ok',
      'submit_result ok',
    ]);
    expect(whys(run)).toEqual(['prompt', 'call_repair', 'call_repair', 'tool_results']);
    const answers = ofType(run.events, 'tool_end').map(({ content }) => JSON.stringify(content));
    expect(answers[1]).toContain('not closed with </tool_call>');
    expect(answers[2]).toContain('behind other words of its line');
    expect(run.result['tool_calls']).toMatchObject({ total: 5, failed: 2 });
    expect(await replay(run)).toMatchObject({ matches: true });
  });

  test('takes no output from a call that is not closed, though its JSON is whole', async () => {
    const run = await tell(story([SUBMIT.replace('</tool_call>', ''), SUBMIT]));
    expect(results(run)).toEqual(['submit_result invalid', 'submit_result ok']);
    expect(run.outcome.reason).toBe('completed');
  });

  test('counts an output that is broken or wrong against the repairs of the output', async () => {
    const task = { ...TASK, output: { schema: SCHEMA, repair_attempts: 1 } };
    const broken = '<tool_call><name>submit_result</name><params>{"sum": }</params></tool_call>';
    const run = await tell(story([broken, call('submit_result', { sum: 'x' })], task));
    expect(run.outcome).toMatchObject({ reason: 'output_invalid', attempts: 2 });
    expect(whys(run)).toEqual(['prompt', 'output_repair']);
    expect(run.exit_code).toBe(3);
  });

  test('runs nothing that it only shows, and takes it for its answer', async () => {
    const shown = `Call it so:\n\`\`\`\n${WRITE}\n\`\`\`\nor \`${WRITE}\`, said "${WRITE}".`;
    const run = await tell(story([shown], { tools: { write_file: {} } }));
    expect(run.outcome.reason).toBe('completed');
    expect(run.output_text).toBe(shown);
    expect(results(run)).toEqual([]);
  });

  test('runs nothing behind a result that the model made up', async () => {
    const made = `${READ}\n<tool_result call="1" name="read_file">\nroot\n</tool_result>\n${WRITE}`;
    const run = await tell(story([made, SUBMIT]));
    expect(results(run)).toEqual(['read_file ok', 'write_file invalid', 'submit_result ok']);
    expect(ofType(run.events, 'tool_start').map(({ name }) => name)).toEqual(['read_file']);
  });

  test('concludes at a limit: its output counts, and no other call', async () => {
    const run = await tell(story([READ, `${WRITE}\n${SUBMIT}`], { ...TASK, limits: { max_turns: 2 } }));
    expect(run.outcome).toMatchObject({ reason: 'completed', limit_reached: { reason: 'max_turns' } });
    expect(results(run)).toEqual(['read_file ok', 'write_file refused', 'submit_result ok']);
  });

  test('keeps the policy: a call in words is denied like any other', async () => {
    const task = { tools: { read_file: { paths: ['docs/**'] } }, limits: { max_denials: 0 } };
    const run = await tell(story([READ, 'never asked'], task));
    expect(run.exit_code).toBe(5);
    expect(results(run)).toEqual(['read_file denied']);
  });
});
