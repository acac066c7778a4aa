import { describe, expect, test, vi } from 'vitest';
import { CASES, type SecurityCase } from './driver/cases.ts';
import { runSchemaCase, runTaskCase, runTaskText } from './driver/data.ts';

// Each case is a whole run, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });

function rows(tool: string): [string, SecurityCase][] {
  return CASES.filter((one) => one.tool === tool).map((one) => [`${one.id} ${one.expected}: ${one.description}`, one]);
}

describe('final output and its schema', () => {
  test.each(rows('schema'))('%s', async (_name, one) => {
    expect(await runSchemaCase(one)).toEqual([]);
  });
});

describe('task files', () => {
  test.each(rows('task'))('%s', async (_name, one) => {
    expect(await runTaskCase(one)).toEqual([]);
  });

  // The cases name limits in words of their own; these say the same in ours.
  test.each([
    '"limits": { "max_cost_usd": 1e999 }',
    '"limits": { "max_cost_usd": -1 }',
    '"limits": { "max_turns": 0 }',
    '"limits": { "max_total_tokens": 1e999 }',
    '"limits": { "timeout": "2147483648ms" }',
    '"limits": { "timeout": 2147483648 }',
    '"limits": { "tool_timeout": "-1s" }',
    '"tools": { "bash": { "allow": ["true"], "timeout": "9999999h" } }',
  ])('data-09, data-10 deny: %s', async (field) => {
    const one = CASES.find(({ id }) => id === 'data-09');
    const model = '"model": { "provider": "script", "id": "s", "script": { "turns": [{ "text": "x" }] } }';
    expect(one && (await runTaskText(one, `{ "prompt": "x", ${model}, ${field} }`))).toEqual([]);
  });
});
