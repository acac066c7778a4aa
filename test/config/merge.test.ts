import { describe, expect, test } from 'vitest';
import { mergeOptions, tightest } from '../../src/config/merge.ts';
import { tempFolder } from '../helpers/temp.ts';
import { load, refusal } from './loading.ts';

const task = (limits?: object, model: unknown = 'm'): Record<string, string> => ({
  'task.json': JSON.stringify({ prompt: 'x', model, ...(limits ? { limits } : {}) }),
});

describe('options', () => {
  test('of a flag win over those of the environment, which win over defaults', () => {
    const env = { AGENT_RUN_OUT: 'env', AGENT_RUN_FORMAT: 'json', AGENT_RUN_VERBOSE: '1' };
    expect(mergeOptions({ out: 'flag' }, env)).toMatchObject({
      out: 'flag',
      format: 'json',
      verbose: true,
      color: 'auto',
    });
  });

  test('of an empty variable count as unset', () => {
    const env = { AGENT_RUN_OUT: '', AGENT_RUN_MAX_TURNS: '', AGENT_RUN_UNTRUSTED: '', AGENT_RUN_INPUT: '' };
    expect(mergeOptions({}, env)).toEqual(mergeOptions({}, {}));
  });

  test('that limit a run never loosen it: the tightest of flag, environment and task wins', async () => {
    const folder = tempFolder();
    const files = task({ max_turns: 5, max_cost_usd: 2, timeout: '90s' });
    const looser = await load({ folder, files, flags: { 'max-turns': '50', 'max-cost-usd': '9', timeout: '2h' } });
    expect(looser.task.limits).toMatchObject({ max_turns: 5, max_cost_usd: 2, timeout_ms: 90_000 });
    const env = { AGENT_RUN_MAX_TURNS: '3', AGENT_RUN_TIMEOUT: '60s', AGENT_RUN_MAX_COST_USD: '0.25' };
    const tighter = await load({ folder, files, flags: { 'max-turns': '4', timeout: '30s' }, env });
    expect(tighter.task.limits).toMatchObject({ max_turns: 3, max_cost_usd: 0.25, timeout_ms: 30_000 });
  });

  test("that limit a run replace a default, which is nobody's limit", async () => {
    const flags = { 'max-turns': '50', timeout: '1h', 'max-cost-usd': '3' };
    const { task: loaded } = await load({ folder: tempFolder(), files: task(), flags });
    expect(loaded.limits).toMatchObject({ max_turns: 50, max_cost_usd: 3, timeout_ms: 3_600_000 });
  });

  test('bound a task that asked for no limit', async () => {
    const { task: loaded } = await load({
      folder: tempFolder(),
      files: task({ max_turns: null }),
      flags: { 'max-turns': '7' },
    });
    expect(loaded.limits.max_turns).toBe(7);
    expect([tightest(null, undefined), tightest(null, 1), tightest(2, undefined), tightest(2, 1)]).toEqual([
      null,
      1,
      2,
      1,
    ]);
  });

  test('replace only the id of the model and drop the prices that were meant for another', async () => {
    const model = { id: 'a', max_tokens: 99, prices: { input: 1, output: 2 }, fallback: ['c'] };
    const files = task(undefined, model);
    const { task: loaded } = await load({ folder: tempFolder(), files, flags: { model: 'b' } });
    expect(loaded.model).toMatchObject({ provider: 'anthropic', id: 'b', max_tokens: 99, fallback: [{ id: 'c' }] });
    expect(loaded.model).not.toHaveProperty('prices');
  });

  test('cannot send a task to another provider', async () => {
    const folder = tempFolder();
    expect(await refusal({ folder, files: task(), flags: { model: 'openai/x' } })).toContain('"anthropic"');
    const { task: loaded } = await load({ folder, files: task(), flags: { model: 'anthropic/x' } });
    expect(loaded.model.id).toBe('x');
  });

  test.each([
    ['--max-turns', { 'max-turns': '0' }, {}, ['--max-turns: found "0"', 'at least 1']],
    ['--max-turns', { 'max-turns': '1e3' }, {}, ['found "1e3"']],
    ['--max-cost-usd', { 'max-cost-usd': '-1' }, {}, ['--max-cost-usd: found "-1"', 'above 0']],
    ['--max-cost-usd', { 'max-cost-usd': 'NaN' }, {}, ['found "NaN"']],
    ['--timeout', { timeout: '90' }, {}, ['--timeout: found "90"', '"90s"']],
    ['--timeout', { timeout: '2147483648ms' }, {}, ['at most 2147483647ms']],
    ['AGENT_RUN_TIMEOUT', {}, { AGENT_RUN_TIMEOUT: 'soon' }, ['AGENT_RUN_TIMEOUT: found "soon"']],
    ['AGENT_RUN_UNTRUSTED', {}, { AGENT_RUN_UNTRUSTED: 'maybe' }, ['AGENT_RUN_UNTRUSTED: found "maybe"', '1 or 0']],
    ['--format', { format: 'jsn' }, {}, ['--format: found "jsn"', 'did you mean "json"?']],
    ['--keep', { keep: 'all' }, {}, ['--keep: found "all"']],
    ['an empty flag', { out: '' }, {}, ['--out: found ""', 'expected DIR']],
    ['a flag given twice', { out: ['a', 'b'] }, {}, ['--out: found "a" and "b", expected it once']],
    ['two opposites', { quiet: true, verbose: true }, {}, ['exclude each other']],
  ])('refuse a wrong value: %s', (_what, flags, env, parts) => {
    for (const part of parts) expect(() => mergeOptions(flags, env)).toThrow(part);
  });
});
