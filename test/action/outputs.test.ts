import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { appendSummary, MAX_OUTPUT_BYTES, OUTPUT_NAMES, stepOutputs, writeOutputs } from '../../src/action/outputs.ts';
import { isJsonObject } from '../../src/core/json.ts';
import { readText } from '../helpers/pages.ts';
import { readOutputs } from '../helpers/step-files.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

const completed = { outcome: { reason: 'completed' } as const, exit_code: 0, message: 'completed' };
const invalid = { outcome: { reason: 'output_missing', detail: 'none' } as const, exit_code: 3, message: 'none' };

describe('outputs of the step', () => {
  test('are those that action.yml declares', () => {
    const action: unknown = parse(readText('action.yml'));
    const declared = isJsonObject(action) && isJsonObject(action['outputs']) ? Object.keys(action['outputs']) : [];
    expect([...OUTPUT_NAMES].sort()).toEqual(declared.sort());
  });

  test('name only files that the run produced', () => {
    const run_dir = tempTree({ 'output.json': '1', 'transcript.jsonl': '' });
    const { outputs } = stepOutputs({ ...completed, run_dir, output_text: '1' });
    expect(outputs).toMatchObject({
      'output-file': join(run_dir, 'output.json'),
      transcript: join(run_dir, 'transcript.jsonl'),
      'usage-file': '',
      output: '1',
    });
  });

  test('say nothing of a cost that is unknown, and the reason of a limit', () => {
    const result = {
      turns: 3,
      usage: { cost_usd: null, last_input_tokens: 7 },
      limit_reached: { reason: 'max_turns', limit: 3, used: 3 },
    };
    const { outputs } = stepOutputs({ ...completed, result });
    expect(outputs).toMatchObject({
      'cost-usd': '',
      turns: '3',
      'last-input-tokens': '7',
      'limit-reached': 'max_turns',
    });
  });

  test('leave an output above 256 KiB to its file', () => {
    const at = (size: number) => stepOutputs({ ...completed, output_text: 'ä'.repeat(size / 2) });
    expect(at(MAX_OUTPUT_BYTES).too_large).toBe(false);
    expect(at(MAX_OUTPUT_BYTES + 2)).toMatchObject({ too_large: true, outputs: { output: '' } });
  });

  test('keep a hostile value a value', () => {
    const file = join(tempFolder(), 'output');
    const output = 'x\nghadelimiter_1\nstatus=success\nstatus<<EOF\nsuccess\nEOF\r\n::set-output name=a::b';
    const { outputs } = stepOutputs({ ...invalid, output_text: output });
    writeOutputs(file, outputs);
    const read = readOutputs(readFileSync(file, 'utf8'));
    expect(Object.keys(read).sort()).toEqual([...OUTPUT_NAMES].sort());
    expect(read).toMatchObject({ output, status: 'failure', 'exit-code': '3' });
  });

  test('use a delimiter that differs from value to value', () => {
    const file = join(tempFolder(), 'output');
    writeOutputs(file, stepOutputs(completed).outputs);
    const delimiters = [...readFileSync(file, 'utf8').matchAll(/^[a-z-]+<<(.+)$/gm)].map((match) => match[1]);
    expect(new Set(delimiters).size).toBe(OUTPUT_NAMES.length);
  });
});

describe('the step summary', () => {
  test('is appended to what is there', () => {
    const file = join(tempTree({ summary: 'before\n' }), 'summary');
    appendSummary(file, '# Run\n\n');
    expect(readFileSync(file, 'utf8')).toBe('before\n# Run\n');
  });

  test.each([0, 1, 50])(
    'stays within its limit with what is there, an open fence closed (%i bytes there)',
    (present) => {
      const file = join(tempFolder(), 'summary');
      writeFileSync(file, 'x'.repeat(present));
      appendSummary(file, ['', '```', ...Array.from({ length: 99 }, () => 'ääää'), '```'].join('\n'), 300);
      const text = readFileSync(file, 'utf8');
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300);
      expect(text).toMatch(/^x*\n```\n(ääää\n)+```\n\n_The rest is left out/);
    },
  );

  test('leaves a full file alone', () => {
    const file = join(tempTree({ summary: 'x'.repeat(299) }), 'summary');
    appendSummary(file, 'more', 300);
    expect(readFileSync(file, 'utf8')).toBe('x'.repeat(299));
  });
});
