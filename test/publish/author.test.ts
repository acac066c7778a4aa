import { describe, expect, test } from 'vitest';
import { findAuthor } from '../../src/publish/author.ts';
import { createApi } from '../../src/publish/github-api.ts';
import { github } from '../helpers/github-server/step.ts';
import type { GithubOptions } from '../helpers/github-server/types.ts';

async function authorOf(options: GithubOptions & { token: string }, faults = 0) {
  const server = await github(options);
  if (faults > 0) server.fail({ on: 'POST /graphql', status: 502, times: faults });
  const access = { token: options.token, url: server.url, graphql_url: `${server.url}/graphql` };
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const api = createApi({ ...access, env: {}, clock, signal: new AbortController().signal, log: () => {} });
  const author = await findAuthor(api, access);
  return author.ok ? author.login : author.failure.kind;
}

describe('the account behind a token', () => {
  test.each([
    ['the job', { token: 'ghs_1', login: 'github-actions[bot]' }, 'github-actions[bot]'],
    ['an app', { token: 'ghs_2', login: 'our-reviews[bot]' }, 'our-reviews[bot]'],
    ['an app whose GraphQL leaves the suffix out', { token: 'ghs_2', login: 'our-reviews' }, 'our-reviews[bot]'],
    ['a person', { token: 'ghp_3', login: 'ada', installation: false }, 'ada'],
    ['a person, where GraphQL says no', { token: 'ghp_3', login: 'ada', installation: false, graphql: false }, 'ada'],
    ['the job, where GraphQL says no', { token: 'ghs_1', graphql: false }, 'github-actions[bot]'],
    ['nobody that can be told', { token: 'v1.old', graphql: false }, 'forbidden'],
  ])('of %s is found', async (_whose, options, expected) => {
    expect(await authorOf(options)).toBe(expected);
  });

  test('is asked for again, and never guessed while GitHub is down', async () => {
    expect(await authorOf({ token: 'ghs_2', login: 'our-reviews[bot]' }, 2)).toBe('our-reviews[bot]');
    expect(await authorOf({ token: 'ghs_2', login: 'our-reviews[bot]' }, 9)).toBe('unavailable');
  });
});
