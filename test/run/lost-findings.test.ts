import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plan } from '../../src/run/plan.ts';
import { configOf, tell } from './harness.ts';

const CLOSED = { type: 'object', properties: { findings: { type: 'array' } }, additionalProperties: false };
const env = { PATH: process.env['PATH'] ?? '' };

test('findings that are not where the task says are warned of in result, summary and on stderr', async () => {
  const findings = { items: '/findings' };
  const run = await tell({
    task: { output: { schema: { type: 'object' } }, findings },
    turns: [{ text: '{"findings":{"a":1}}' }],
  });
  const said = 'findings.items: "/findings" names an object in the output, not a list';
  expect(run).toMatchObject({ exit_code: 0, remark: expect.stringContaining(said) });
  expect(run.result['warnings']).toEqual([expect.stringContaining(said)]);
  expect(run.artifact('summary.md')).toMatch(/## Warnings\n\n- findings\.items: /);
  expect(run.artifact('summary.md')).not.toContain('None.');
});

test('a list without findings is no reason to warn', async () => {
  const run = await tell({
    task: { output: { schema: CLOSED }, findings: { items: '/findings' } },
    turns: [{ text: '{"findings":[]}' }],
  });
  expect(run.remark).toBeUndefined();
  expect(run.result['warnings']).toEqual([]);
});

test('a pointer that the schema leaves no room for is warned of before anything is spent', async () => {
  const { config, folder } = await configOf({ task: { output: { schema: CLOSED }, findings: { items: '/finding' } } });
  const { warnings } = await plan({ config, env, cwd: join(folder) });
  expect(warnings).toEqual(['findings.items: found "/finding", but output.schema allows nothing there']);
});
