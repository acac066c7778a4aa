import { onTestFinished } from 'vitest';
import { runStep, type StepEnd, type StepSetup } from '../step.ts';
import { startGithubServer } from './server.ts';
import type { Comment, GithubOptions, GithubServer } from './types.ts';

export const TOKEN = 'ghs_0123456789abcdef';
export const OURS = 'github-actions[bot]';

/** A server for this test that is closed, and found without violations unless `lenient`, when the test ends. */
export async function github(options: GithubOptions = {}): Promise<GithubServer> {
  const server = await startGithubServer({ token: TOKEN, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** The payload of a pull request of the repository itself. */
export const PULL = {
  pull_request: {
    number: 5,
    head: { sha: 'a'.repeat(40), repo: { full_name: 'o/r' } },
    base: { sha: 'b'.repeat(40), repo: { full_name: 'o/r' } },
  },
};

/** A step on pull request 5 that comments on it. */
export function runOn(server: GithubServer, setup: StepSetup & { run?: number }): Promise<StepEnd> {
  return runStep({
    event: { name: 'pull_request', payload: PULL },
    ...setup,
    inputs: { 'github-token': TOKEN, comment: 'true', ...setup.inputs },
    env: {
      GITHUB_API_URL: server.url,
      GITHUB_GRAPHQL_URL: `${server.url}/graphql`,
      GITHUB_SERVER_URL: 'https://github.example',
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_RUN_ID: String(setup.run ?? 100),
      GITHUB_RUN_ATTEMPT: '1',
      ...setup.env,
    },
  });
}

/** Comments of strangers that fill pages. */
export function strangers(count: number, body = 'hello'): Comment[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    issue: 5,
    body,
    user: { login: 'octocat', type: 'User' as const },
  }));
}
