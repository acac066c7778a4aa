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

describe('a run is untrusted', () => {
  const event = (payload: object): Record<string, string> => ({ 'event.json': JSON.stringify(payload) });
  const pull = (head: string | null) => ({
    pull_request: { head: { repo: head === null ? null : { full_name: head } }, base: { repo: { full_name: 'o/r' } } },
  });

  test.each([
    ['--untrusted says so', { flags: { untrusted: true } }],
    ['AGENT_RUN_UNTRUSTED=1 says so', { env: { AGENT_RUN_UNTRUSTED: '1' } }],
    ['the event is pull_request_target', { env: { GITHUB_EVENT_NAME: 'pull_request_target' } }],
    ['the event is issue_comment', { env: { GITHUB_EVENT_NAME: 'issue_comment' } }],
    ['the pull request comes from a fork', { payload: pull('stranger/r') }],
    ['the fork was deleted', { payload: pull(null) }],
    ['the payload is missing', { env: { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: '/nowhere' } }],
    ['a merge request comes from a fork', { env: { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '2', CI_PROJECT_ID: '1' } }],
    ['Jenkins builds a fork', { env: { CHANGE_FORK: 'stranger' } }],
  ])('when %s', async (_when, given: { flags?: object; env?: Record<string, string>; payload?: object }) => {
    const folder = tempFolder();
    const files = { ...task(), ...(given.payload ? event(given.payload) : {}) };
    const github = { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: `${folder}/event.json` };
    const env = given.payload ? github : (given.env ?? {});
    const config = await load({ folder, files, env, flags: given.flags ?? {} });
    expect(config.untrusted).toBe(true);
    expect(config.untrusted_reason).toBeTruthy();
  });

  test('not when the pull request comes from the repository itself, or on push', async () => {
    const folder = tempFolder();
    const env = { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: `${folder}/event.json` };
    const files = { ...task(), ...event(pull('o/r')) };
    expect((await load({ folder, files, env })).untrusted).toBe(false);
    expect((await load({ folder, env: { GITHUB_EVENT_NAME: 'push' } })).untrusted).toBe(false);
  });

  test('even when AGENT_RUN_UNTRUSTED=0 denies it', async () => {
    const env = { AGENT_RUN_UNTRUSTED: '0', GITHUB_EVENT_NAME: 'issue_comment' };
    expect((await load({ folder: tempFolder(), files: task(), env })).untrusted).toBe(true);
  });
});
