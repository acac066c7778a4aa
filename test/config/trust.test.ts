import { describe, expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp.ts';
import { load } from './loading.ts';

const task = (): Record<string, string> => ({ 'task.json': '{ "prompt": "x", "model": "claude-sonnet-5-5" }' });

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
    const config = await load({ folder, files, env, flags: { workspace: tempFolder(), ...given.flags } });
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
    const flags = { workspace: tempFolder() };
    expect((await load({ folder: tempFolder(), files: task(), env, flags })).untrusted).toBe(true);
  });
});
