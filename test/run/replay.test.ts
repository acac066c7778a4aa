import { describe, expect, test } from 'vitest';
import { replay } from '../../src/run/replay.ts';
import { calls, ofType, tell } from './harness.ts';
import type { ScriptTurn } from '../../src/core/config.ts';
import type { Story } from './harness.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false };
const read: [string, Record<string, unknown>] = ['read_file', { path: 'README.md' }];
const write = (path: string): [string, Record<string, unknown>] => ['write_file', { path, file_text: 'x' }];
const text = (words: string): ScriptTurn => ({ text: words });
const endless = (count: number): ScriptTurn[] => Array.from({ length: count }, () => calls(read));
const tools = { read_file: {}, glob: {}, write_file: { paths: ['docs/**'] } };

/** Runs that go through everything a transcript can hold. */
const STORIES: Record<string, Story> = {
  'a plain answer': { turns: [text('done')] },
  'reads and writes in one turn, early and late': {
    task: { tools },
    turns: [
      calls(read, ['glob', { pattern: '*' }], write('docs/a.md'), read),
      calls(read, write('a.md'), read),
      text('x'),
    ],
  },
  'calls that are unknown, malformed and denied': {
    task: { tools },
    turns: [calls(['nope', {}], ['read_file', { nope: 1 }], write('src/a.ts'), read), text('x')],
  },
  'a denial that ends the run': {
    task: { tools: { ...tools, write_file: { paths: ['docs/**'], on_denied: 'fail' } } },
    turns: [calls(read, write('src/a.ts'), read)],
  },
  'an output that is repaired': {
    task: { output: { schema: SCHEMA } },
    turns: [text('{"b":1}'), calls(['submit_result', { a: 'x' }]), calls(['submit_result', { a: 1 }])],
  },
  'a failing verify command and a gate': {
    task: {
      tools,
      output: { schema: SCHEMA, gate: { properties: { a: { maximum: 0 } } } },
      verify: [{ run: ['test', '-f', 'docs/a.md'], attempts: 2 }],
    },
    turns: [calls(['submit_result', { a: 1 }]), calls(write('docs/a.md')), calls(['submit_result', { a: 2 }])],
  },
  'retries, then a failure': {
    task: { limits: { max_retries: 1 } },
    turns: [{ error: { status: 529 } }, text('{'), { error: { status: 529 } }, { error: { status: 529 } }],
  },
  'a call limit': {
    task: { tools: { ...tools, read_file: { max_calls: 2 } }, limits: { max_tool_calls: 4 } },
    turns: [calls(read, read, read, ['glob', { pattern: '*' }], read), calls(read, read), text('x')],
  },
  'a turn limit that ends in a conclusion': {
    task: { tools, limits: { max_turns: 2 } },
    turns: [...endless(1), text('x')],
  },
  'a turn limit that ends in none': { task: { tools, limits: { max_turns: 2 } }, turns: endless(2) },
  'a deadline while the model is silent': {
    task: { limits: { timeout: '400ms', on_limit: 'stop' } },
    turns: [{ text: 'late', delay_ms: 5000 }],
  },
  'a deadline that leaves time for a conclusion': {
    task: { limits: { timeout: '2s' } },
    turns: [{ text: 'late', delay_ms: 5000 }, text('in time')],
  },
  'a deadline in a call': {
    task: { tools: { ...tools, bash: { allow: ['sleep 9', 'echo *'] } }, limits: { timeout: '1s', on_limit: 'stop' } },
    turns: [calls(['bash', { command: 'sleep 9' }], write('docs/a.md'), read)],
  },
  'a call cut so that a conclusion fits': {
    task: { tools: { ...tools, bash: { allow: ['sleep 9', 'echo *'] } }, limits: { timeout: '3s' } },
    turns: [calls(['bash', { command: 'sleep 9' }], write('docs/a.md'), read), text('what I have')],
  },
  'a refusal': { turns: [{ text: 'no', stop_reason: 'refusal' }] },
  'a refusal that held calls': { task: { tools }, turns: [{ ...calls(read, read), stop_reason: 'refusal' }] },
  'truncated and paused turns': {
    turns: [{ text: 'a', stop_reason: 'max_tokens' }, { text: 'b', stop_reason: 'pause_turn' }, text('c')],
  },
  'an empty reply': { turns: [{ text: '' }, text('c')] },
  'several prompts': {
    task: { prompt: ['one', 'two', 'three'], tools },
    turns: [text('1'), ...endless(1), text('2'), text('3')],
  },
  'nothing to do': { task: { context: [{ files: ['none/**'], when_empty: 'skip' }] } },
  'a window that is full': { turns: [{ text: 'half', stop_reason: 'model_context_window_exceeded' }] },
};

describe('replay', () => {
  test.each(Object.entries(STORIES))('says the same again of %s', async (_name, story) => {
    const told = await tell(story);
    expect(told.events[0]?.type, `${told.message} ${(told.fault as Error)?.stack}`).toBe('run_start');
    const result = await replay({ run_dir: told.run_dir });
    expect(result.divergence).toBeNull();
    expect(result).toMatchObject({ matches: true, events: told.events.length });
    expect(ofType(told.events, 'run_end')).toHaveLength(1);
  });
});
