import { createServer, request as forward } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ApiRequest, createApi } from '../../src/publish/github-api.ts';
import { github, strangers, TOKEN } from '../helpers/github-server/step.ts';
import type { Fault } from '../helpers/github-server/types.ts';

const LIST: ApiRequest = { method: 'GET', path: '/repos/o/r/issues/5/comments' };
const NOW_MS = 1_700_000_000_000;

/** One request to a server that has these faults; how it ended and what was waited in between. */
async function ask(
  faults: Fault[],
  request: ApiRequest = LIST,
  { env = {}, token = TOKEN }: { env?: Record<string, string>; token?: string } = {},
) {
  const server = await github({ comments: strangers(1) });
  server.fail(...faults);
  const waits: number[] = [];
  const clock = { now: () => NOW_MS, sleep: (ms: number) => Promise.resolve(void waits.push(ms)) };
  const access = { token, url: server.url, graphql_url: `${server.url}/graphql`, env, clock };
  const logged: string[] = [];
  const api = createApi({ ...access, signal: new AbortController().signal, log: (text) => void logged.push(text) });
  const answer = await api(request);
  return { answer, waits, logged, requests: server.requests, violations: server.violations, api, server };
}

const failure = ({ answer }: Awaited<ReturnType<typeof ask>>) => (answer.ok ? undefined : answer.failure);
const at = (fault: Partial<Fault>): Fault => ({ on: 'GET ', times: 9, ...fault });

describe('a request to GitHub', () => {
  test.each([
    ['as long as it says', { status: 429, headers: { 'retry-after': '7' } }, [7000, 7000, 7000]],
    [
      'until the limit is over, and a second',
      { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW_MS / 1000 + 20) } },
      [21_000, 21_000, 21_000],
    ],
    [
      'longer each time after the secondary limit',
      { status: 403, message: 'You have exceeded a secondary rate limit' },
      [2000, 4000, 8000],
    ],
    ['longer each time after an error of its own', { status: 503 }, [1000, 2000, 4000]],
    ['longer each time after a connection that broke', { drop: 'before' as const }, [1000, 2000, 4000]],
  ])('waits %s, and three times at most', async (_what, fault, expected) => {
    const asked = await ask([at(fault)]);
    expect(asked.waits).toEqual(expected);
    expect(asked.requests).toHaveLength(4);
    expect(asked.logged).toHaveLength(3);
    expect(asked.answer.ok).toBe(false);
  });

  test('with a token that no header can hold is made once, sends nothing and does not show it', async () => {
    const asked = await ask([], LIST, { token: 'ghs_first\nsecond' });
    expect(asked).toMatchObject({ waits: [], logged: [], requests: [], answer: { ok: false } });
    expect(failure(asked)?.message).toContain('the header "authorization" holds a line break');
    expect(failure(asked)?.message).not.toContain('ghs_first');
  });

  test('waits no more than 90 s altogether', async () => {
    const asked = await ask([at({ status: 429, headers: { 'retry-after': '60' } })]);
    expect(asked.waits).toEqual([60_000]);
    expect(failure(asked)?.message).toContain('another 60 s, longer than a step waits');
    const once = await ask([at({ status: 429, headers: { 'retry-after': '91' } })]);
    expect(once.waits).toEqual([]);
  });

  test.each([
    [401, 'unauthorised'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [410, 'not_found'],
    [422, 'invalid'],
    [302, 'unexpected'],
  ])('that ends in %i is not repeated: %s', async (status, kind) => {
    const asked = await ask([at({ status, message: 'why' })]);
    expect(failure(asked)).toMatchObject({ kind, uncertain: false });
    expect(failure(asked)?.message).toContain(`GET /repos/o/r/issues/5/comments: GitHub answered ${status}, "why"`);
    expect(asked.requests).toHaveLength(1);
  });

  test('that writes is not repeated when nobody knows what became of it', async () => {
    const post: ApiRequest = { method: 'POST', path: '/repos/o/r/issues/5/comments', body: { body: 'x' } };
    const lost = await ask([{ on: 'POST', drop: 'after' }], post);
    expect(failure(lost)).toMatchObject({ kind: 'unavailable', uncertain: true });
    expect(lost.requests).toHaveLength(1);
    const limited = await ask([{ on: 'POST', status: 429, headers: { 'retry-after': '1' } }], post);
    expect(limited.answer.ok).toBe(true);
  });

  test('carries its token to no other host, whatever a page says', async () => {
    const asked = await ask([], { method: 'GET', path: 'http://127.0.0.1:1/repositories/1' });
    expect(failure(asked)?.message).toContain('it is not asked, since the token is for the latter');
    expect(asked.requests).toEqual([]);
  });

  test('goes through the proxy that the environment names', async () => {
    const seen: string[] = [];
    const proxy = createServer((incoming, outgoing) => {
      seen.push(incoming.url ?? '');
      const { host, connection: _connection, ...headers } = incoming.headers;
      const onward = forward(
        incoming.url ?? '',
        { method: incoming.method, headers: { ...headers, host } },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        },
      );
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const address = proxy.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const asked = await ask([], LIST, { env: { http_proxy: `http://127.0.0.1:${port}` } });
    expect(asked.answer.ok).toBe(true);
    expect(seen).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/repos\/o\/r\/issues\/5\/comments$/)]);
    expect(asked.violations).toEqual([]);
  });
});
