import { describe, expect, onTestFinished, test } from 'vitest';
import { serverCalls } from '../../src/subscribers/server-calls.ts';
import { plan } from '../../src/run/plan.ts';
import { replay } from '../../src/run/replay.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { startMessagesServer } from '../helpers/messages-server/server.ts';
import { KEY, MODEL } from './fill.ts';
import { configOf, ofType, tell } from './harness.ts';
import type { ReplyLike } from '../helpers/messages-server/types.ts';

const search = (id: string, query = 'lighthouse 1.0') => ({
  type: 'server_tool_use',
  id,
  name: 'web_search',
  input_json: `{"query":"${query}","n":1.0}`,
  caller: { type: 'direct' },
});
const found = (id: string) => ({
  type: 'web_search_tool_result',
  tool_use_id: id,
  content: [{ type: 'web_search_result', url: 'https://docs.example.com/a', title: 'A', encrypted_content: 'EqgfC==' }],
  caller: { type: 'direct' },
});
const searches = (n: number) => ({ server_tool_use: { web_search_requests: n, web_fetch_requests: 0 } });
const TOOLS = {
  read_file: {},
  web_search: { allowed_domains: ['docs.example.com'], max_uses: 3 },
  web_fetch: { blocked_domains: ['example.org'], max_content_tokens: 9000 },
};

async function play(replies: ReplyLike[], task: object = {}) {
  const server = await startMessagesServer({ replies });
  onTestFinished(() => server.close());
  const run = await tell({
    task: { tools: TOOLS, ...task },
    model: { provider: 'anthropic', id: MODEL, base_url: server.url },
    env: { ANTHROPIC_API_KEY: KEY },
  });
  expect(server.failures).toEqual([]);
  expect((await replay({ run_dir: run.run_dir })).divergence).toBeNull();
  return { ...run, server };
}

describe('tools that the service runs', () => {
  test('are offered in its own words, behind ours', async () => {
    const { server } = await play([reply.text('done')]);
    expect(server.turns[0]?.body['tools']).toMatchObject([
      { name: 'read_file' },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['docs.example.com'] },
      {
        type: 'web_fetch_20250910',
        name: 'web_fetch',
        max_uses: 5,
        blocked_domains: ['example.org'],
        max_content_tokens: 9000,
      },
    ]);
  });

  test('leave their calls and results in the history to the byte, over a pause and a call of ours', async () => {
    const paused = reply.message({ content: [search('srvtoolu_1')], stop_reason: 'pause_turn', usage: searches(0) });
    const both = reply.message({
      content: [found('srvtoolu_1'), { type: 'tool_use', name: 'read_file', input: { path: 'README.md' } }],
      stop_reason: 'tool_use',
      usage: searches(1),
    });
    const { result, events, server } = await play([paused, both, reply.text('It is A.', { usage: searches(2) })]);
    expect(result).toMatchObject({ exit_code: 0, output: 'It is A.', turns: 3, tool_calls: { total: 1 } });
    expect(server.turns).toHaveLength(3); // the server compares what comes back with what it sent
    const [first] = ofType(events, 'model_reply');
    expect(first?.content).toMatchObject([{ type: 'opaque', json: expect.stringContaining('"n":1.0') }]);
    expect(serverCalls(first?.content ?? [])).toEqual(['web_search {"query":"lighthouse 1.0","n":1} by the service']);
  });

  test('are counted and priced by the search', async () => {
    const answer = reply.text('done', { usage: { input_tokens: 0, output_tokens: 0, ...searches(3) } });
    const { events, result } = await play([answer]);
    expect(ofType(events, 'model_reply')[0]?.usage.web_search_requests).toBe(3);
    expect(ofType(events, 'model_reply')[0]?.cost_usd).toBeCloseTo(0.03);
    expect(result.usage).toMatchObject({ cost_usd: expect.closeTo(0.03), total_web_search_requests: 3 });
  });

  test('can end the run by its cost limit', async () => {
    const paused = reply.message({
      content: [search('srvtoolu_1'), found('srvtoolu_1')],
      stop_reason: 'pause_turn',
      usage: searches(5),
    });
    const { result } = await play([paused], { limits: { max_cost_usd: 0.04, on_limit: 'stop' } });
    expect(result).toMatchObject({ exit_code: 4, exit_reason: 'max_cost' });
  });

  test('take the output through the output tool, as cited text cannot be bound to a schema', async () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    };
    const { result } = await play([reply.tool('submit_result', { n: 1 })], { output: { schema } });
    expect(result).toMatchObject({ exit_code: 0, output: { n: 1 } });
  });

  test('hear nothing but results while a call of theirs is open', async () => {
    const open = reply.message({
      content: [search('srvtoolu_1'), { type: 'tool_use', name: 'read_file', input: { path: 'README.md' } }],
      stop_reason: 'tool_use',
    });
    const limits = { max_turns: 2 }; // the second is the conclusion, asked for beside the results
    const { result } = await play([open, reply.text('It is A.')], { limits });
    expect(result).toMatchObject({ exit_code: 0, output: 'It is A.', limit_reached: { reason: 'max_turns' } });
  });
});

test.each([
  [{ max_turns: 2, max_retries: 0, max_total_tokens: 1000 }, 0.01 + 2 * 3 * 0.01],
  [{ max_turns: 2, max_retries: 1, max_total_tokens: 1000 }, 0.01 + 4 * 3 * 0.01],
  [{ max_turns: null, max_total_tokens: 1000 }, null],
  [{ max_turns: null, max_total_tokens: 1000, max_cost_usd: 0.5 }, 0.5 + 3 * 0.01],
])('the plan of a task with %j counts every search in its worst cost', async (limits, worst) => {
  const { config, folder } = await configOf({ task: { tools: TOOLS, limits }, model: { id: MODEL } });
  const report = await plan({ config, env: {}, cwd: folder });
  expect(report.tools).toEqual(['read_file', 'web_search', 'web_fetch']);
  expect(report.worst_case_cost_usd?.toFixed(3)).toBe(worst?.toFixed(3));
});

describe('a task is refused', () => {
  const own = { name: 'web_fetch', description: 'x', input_schema: { type: 'object' }, command: ['ls'] };
  const fetching = (lists: object): object => ({ tools: { web_fetch: lists } });

  test.each([
    [
      'with a model that has none',
      { tools: TOOLS },
      { provider: 'openai', id: 'x' },
      'a model of provider "anthropic"',
    ],
    [
      'with such a fallback',
      { tools: TOOLS },
      { id: MODEL, fallback: ['openai/x'] },
      'a model of provider "anthropic"',
    ],
    [
      'with calls in free text',
      { tools: TOOLS },
      { id: MODEL, tool_protocol: 'xml' },
      'expected tool_protocol "native"',
    ],
    [
      'with both lists',
      fetching({ allowed_domains: ['a.b'], blocked_domains: ['c.d'] }),
      MODEL,
      'expected one of them',
    ],
    ['with a scheme in a domain', fetching({ allowed_domains: ['https://a.b'] }), MODEL, 'allowed_domains'],
    ['with a domain in other letters', fetching({ allowed_domains: ['ex\u0430mple.com'] }), MODEL, 'allowed_domains'],
    ['with an own tool of that name', { custom_tools: [own] }, MODEL, 'a built-in tool is called so'],
  ])('%s', async (...[, task, model, message]) => {
    await expect(configOf({ task: { ...task }, model })).rejects.toThrow(message);
  });

  test.each(['web_search', 'web_fetch'])('in an untrusted run where %s may reach any domain', async (name) => {
    const told = tell({
      task: { tools: { [name]: { blocked_domains: ['evil.example'] } } },
      model: { id: MODEL },
      env: { ANTHROPIC_API_KEY: KEY },
      flags: { untrusted: true },
    });
    const { result } = await told;
    expect(result).toMatchObject({ exit_code: 2, exit_reason: 'config_error', turns: 0 });
    expect(result.message).toContain(`tools.${name} has no allowed_domains`);
  });

  test('in an untrusted run no more where the domains are named', async () => {
    const server = await startMessagesServer({ replies: [reply.text('done')] });
    onTestFinished(() => server.close());
    const { result } = await tell({
      task: { tools: { web_fetch: { allowed_domains: ['docs.example.com'] } }, sandbox: { mode: 'auto' } },
      model: { id: MODEL, base_url: server.url },
      env: { ANTHROPIC_API_KEY: KEY },
      flags: { untrusted: true },
    });
    expect(result).toMatchObject({ exit_code: 0 });
  });
});

test('an error of a server tool is told in a line', () => {
  const content = { type: 'web_fetch_tool_result_error', error_code: 'url_not_allowed' };
  const json = JSON.stringify({ type: 'web_fetch_tool_result', tool_use_id: 'x', content });
  expect(
    serverCalls([
      { type: 'opaque', json },
      { type: 'text', text: 'a' },
    ]),
  ).toEqual(['web_fetch_tool_result: error url_not_allowed']);
});
