import { createServer } from 'node:http';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ciCheck } from '../../src/run/doctor-ci.ts';
import { folderCheck, gitCheck, nodeCheck, sandboxCheck, workspaceCheck } from '../../src/run/doctor-machine.ts';
import { keyCheck, serviceCheck } from '../../src/run/doctor-service.ts';
import { diagnose } from '../../src/run/doctor.ts';
import { gitRepo } from '../helpers/git-repo.ts';
import { readText } from '../helpers/pages.ts';
import { tempFolder } from '../helpers/temp.ts';

const PATH = { PATH: process.env['PATH'] ?? '' };
const KEY = 'sk-ant-not-for-anybody';

describe('doctor on the machine', () => {
  test.each([
    ['v20.19.0', 'ok'],
    ['v20.18.3', 'fail'],
    ['v21.7.0', 'fail'],
    ['v22.11.0', 'fail'],
    ['v22.12.0', 'ok'],
    ['v24.0.0', 'ok'],
  ])('judges Node %s as package.json does: %s', (version, state) => {
    expect(nodeCheck(version)).toMatchObject({ name: 'node', state });
    expect(readText('package.json')).toContain('"node": "^20.19.0 || >=22.12.0"');
  });

  test('finds git, and says what is lost without it', async () => {
    const folder = tempFolder();
    expect(await gitCheck(folder, PATH)).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(/^git version/) as unknown,
    });
    const none = await gitCheck(folder, { PATH: '/etc' }); // a folder that exists and holds no git
    expect(none).toMatchObject({ state: 'warn', mend: 'install git' });
    expect(none.text).toContain('git is not installed, or not on PATH; no context from git');
  });

  test('tells a repository, a shallow clone and neither', async () => {
    const origin = gitRepo({ a: '1' });
    origin.commit({ a: '2' });
    const shallow = join(tempFolder(), 'clone');
    origin.git('clone', '-q', '--depth=1', `file://${origin.root}`, shallow);
    expect(await workspaceCheck(origin.root, PATH)).toMatchObject({ state: 'ok' });
    expect(await workspaceCheck(shallow, PATH)).toMatchObject({
      state: 'warn',
      mend: expect.stringContaining('fetch-depth: 0') as unknown,
    });
    expect(await workspaceCheck(tempFolder(), PATH)).toMatchObject({
      state: 'warn',
      text: expect.stringContaining('no git repository') as unknown,
    });
  });

  test('starts the profile of the sandbox, and says what its absence means for whom', async () => {
    const checks = [await sandboxCheck(tempFolder(), PATH, false), await sandboxCheck(tempFolder(), PATH, true)];
    const works = checks[0]?.state === 'ok';
    expect(checks.map(({ state }) => state)).toEqual(works ? ['ok', 'ok'] : ['warn', 'fail']);
    const [own, stranger] = works
      ? ['bubblewrap works', 'bubblewrap works']
      : ['without a sandbox', 'starts no process'];
    expect(checks.map(({ text }) => text)).toEqual(
      [own, stranger].map((text) => expect.stringContaining(text) as unknown),
    );
    expect(checks.every(({ state, mend }) => state === 'ok' || mend !== undefined)).toBe(true);
  });

  test('leaves nothing where it tried to write', () => {
    const cwd = tempFolder();
    expect(folderCheck({ cwd })).toMatchObject({ state: 'ok' });
    expect(folderCheck({ cwd, out: join(cwd, 'deep/out') })).toMatchObject({ state: 'ok' });
    expect(readdirSync(cwd)).toEqual([]);
    writeFileSync(join(cwd, 'file'), '');
    expect(folderCheck({ cwd, out: join(cwd, 'file/out') })).toMatchObject({ state: 'fail' });
  });
});

describe('doctor on the model service', () => {
  test('says which variable holds a key, and never the key', () => {
    expect(keyCheck({ ANTHROPIC_API_KEY: KEY })).toEqual({
      name: 'key',
      state: 'ok',
      text: 'ANTHROPIC_API_KEY is set',
    });
    expect(keyCheck({ ANTHROPIC_AUTH_TOKEN: KEY }).text).toBe('ANTHROPIC_AUTH_TOKEN is set');
    const ids = { ANTHROPIC_FEDERATION_RULE_ID: 'fdrl_1', ANTHROPIC_ORGANIZATION_ID: 'org' };
    expect(keyCheck({ ...ids, ANTHROPIC_IDENTITY_TOKEN: KEY })).toMatchObject({
      state: 'ok',
      text: 'none: keyless access to https://api.anthropic.com',
    });
    expect(keyCheck(ids)).toMatchObject({ state: 'fail', text: expect.stringContaining('no identity token') });
    expect(keyCheck({})).toMatchObject({
      state: 'warn',
      text: expect.stringContaining('set ANTHROPIC_API_KEY') as unknown,
    });
    const broken = keyCheck({ ANTHROPIC_API_KEY: `${KEY}\nx` });
    expect(broken.state).toBe('fail');
    expect(broken.text).not.toContain(KEY);
  });

  test('asks the service whether it is there, without the key', async () => {
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers);
      response.writeHead(seen.length === 1 ? 404 : 503).end('no');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
    const text = (status: number): string => `127.0.0.1:${port} answers (HTTP ${status})`;
    expect(await serviceCheck({ env, offline: false })).toEqual({ name: 'service', state: 'ok', text: text(404) });
    expect(await serviceCheck({ env, offline: false })).toEqual({ name: 'service', state: 'warn', text: text(503) });
    expect(JSON.stringify(seen)).not.toContain(KEY);
    expect(await serviceCheck({ env, offline: true })).toMatchObject({ state: 'skip' });
    expect(seen).toHaveLength(2);
  });

  test('fails when nobody answers or the address is none, and asks nobody without a reason', async () => {
    const at = (ANTHROPIC_BASE_URL: string) => serviceCheck({ env: { ANTHROPIC_BASE_URL }, offline: false });
    expect(await at('http://127.0.0.1:9')).toMatchObject({
      state: 'fail',
      text: expect.stringContaining('no answer from 127.0.0.1:9') as unknown,
    });
    expect(await at('ftp://x')).toMatchObject({
      state: 'fail',
      text: expect.stringContaining('ANTHROPIC_BASE_URL') as unknown,
    });
    expect(await serviceCheck({ env: {}, offline: false })).toMatchObject({ state: 'skip' });
  });
});

describe('doctor on the CI', () => {
  test('names the system and whether a run is trusted', () => {
    expect(ciCheck({ env: {}, untrusted: false })).toEqual({
      name: 'ci',
      state: 'ok',
      text: 'no CI system; a run is trusted',
    });
    const env = { GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: 'issue_comment', GITHUB_SHA: 'a'.repeat(40) };
    expect(ciCheck({ env, untrusted: false })).toMatchObject({
      state: 'warn',
      text: 'GitHub Actions, event issue_comment; a run is untrusted: the event issue_comment',
      mend: expect.stringContaining(`--task-ref ${'a'.repeat(40)}`) as unknown,
    });
    expect(ciCheck({ env: { GITLAB_CI: 'true' }, untrusted: true })).toMatchObject({ state: 'warn' });
  });
});

test('doctor without a workspace looks no further', async () => {
  const workspace = join(tempFolder(), 'gone');
  const checks = await diagnose({ env: PATH, cwd: '/', workspace, untrusted: false, offline: true });
  expect(checks.map(({ name, state }) => `${name} ${state}`)).toEqual(['node ok', 'workspace fail']);
});
