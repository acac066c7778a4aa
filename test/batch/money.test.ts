import { expect, test } from 'vitest';
import { batchFolder, readJson, taskText, tellBatch } from './harness.ts';

const PRICES = { input: 1, output: 1 };
const usage = { input_tokens: 500_000, output_tokens: 100_000 }; // 0.6 USD
const paid = (fields: object = {}): string => taskText([{ text: 'x', usage }], { prices: PRICES, ...fields });

test('all runs together stay within the total, and what no money is left for costs nothing', async () => {
  const limits = { max_cost_usd: 1 };
  const cwd = batchFolder({ 'a.json': paid({ limits }), 'b.json': paid({ limits }), 'c.json': paid({ limits }), 'd.json': paid({ limits }) }); // prettier-ignore
  const told = await tellBatch(cwd, ['*.json'], { workers: '4', 'max-total-cost-usd': '1.2' });
  expect(told.report.totals.cost_usd).toBeLessThanOrEqual(1.2);
  expect(told.run('a')).toMatchObject({ exit_code: 0, cost_usd: 0.6 });
  expect(told.run('d')).toMatchObject({ exit_reason: 'max_cost', exit_code: 4, turns: 0, cost_usd: 0 });
  expect(told.exit_code).toBe(4);
  const result = readJson(cwd, 'agent-run-results', told.run('a')?.run_dir ?? '', 'result.json');
  expect(result).toMatchObject({ limits: { max_cost_usd: 1 } });
});

test('a task without a known price is refused under a total, before it spends anything', async () => {
  const cwd = batchFolder({ 'a.json': taskText([{ text: 'x', usage }]) });
  const told = await tellBatch(cwd, ['a.json'], { 'max-total-cost-usd': '1' });
  expect(told.run('a')).toMatchObject({ exit_reason: 'config_error', turns: 0 });
  expect(told.run('a')?.message).toContain('no price is known for script/script');
  expect(told.exit_code).toBe(2);
});
