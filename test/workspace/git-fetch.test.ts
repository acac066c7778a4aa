import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { networkEnvironment } from '../../src/workspace/git-fetch.ts';
import { gitOn, gitRepo, type TestRepo } from '../helpers/git-repo.ts';
import { tempFolder } from '../helpers/temp.ts';

const options = { env: {}, signal: new AbortController().signal };

/** A repository whose branches are `commits` apart from their common ancestor, and a clone of its `feature`. */
function cloned({ commits, depth }: { commits: number; depth: number }) {
  const origin = gitRepo({ 'a.txt': 'one\n' });
  const grow = (branch: string): string => {
    origin.git('checkout', '-q', branch);
    for (let index = 0; index < commits; index += 1)
      origin.git('commit', '-q', '--allow-empty', '-m', `${branch} ${index}`);
    return origin.commit({ [`${branch}.txt`]: `${branch}\n` });
  };
  origin.git('branch', 'feature');
  const [base, head] = [grow('main'), grow('feature')];
  const root = join(tempFolder(), 'clone');
  const args = ['clone', '-q', `--depth=${depth}`, '--branch', 'feature', `file://${origin.root}`, root];
  execFileSync('git', args, { stdio: 'pipe' });
  return { origin, root, base, head };
}

const inClone = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

describe('what a shallow clone lacks', () => {
  test('B121: is fetched by its id, with history up to the merge base', async () => {
    const { root, base, head } = cloned({ commits: 3, depth: 1 });
    const git = gitOn(root);
    await git.fetchMissing({ base, head }, options);
    expect(await git.diff({ base, head, paths: [] })).toMatchObject({ ok: true, files: ['feature.txt'], notes: [] });
    expect(await git.log({ base, head, paths: [] })).toMatchObject({ ok: true });
  });

  test('B123: is fetched in steps, and no further than the merge base needs', async () => {
    const { root, base, origin } = cloned({ commits: 60, depth: 1 });
    origin.git('checkout', '-q', 'main');
    const git = gitOn(root);
    await git.fetchMissing({ base }, options);
    expect(await git.diff({ base, head: 'HEAD', paths: [] })).toMatchObject({ files: ['feature.txt'], notes: [] });
    expect(Number(inClone(root, 'rev-list', '--count', 'HEAD'))).toBeGreaterThan(60);
  });

  test('B123: stays missing without a remote, and the difference says so', async () => {
    const { root, base, origin } = cloned({ commits: 1, depth: 1 });
    execFileSync('git', ['fetch', '-q', '--depth=1', 'origin', base], { cwd: root, stdio: 'pipe' });
    renameSync(origin.root, `${origin.root}-gone`);
    onTestFinished(() => renameSync(`${origin.root}-gone`, origin.root));
    const git = gitOn(root);
    await git.fetchMissing({ base }, options);
    const diff = await git.diff({ base, head: 'HEAD', paths: [] });
    expect(diff).toMatchObject({ ok: true, files: ['feature.txt', 'main.txt'] });
    expect(diff.ok && diff.notes).toEqual([expect.stringContaining('fetch-depth: 0')]);
  });

  test('is not asked for by a name, which could be a branch of somebody else', async () => {
    const { root, origin } = cloned({ commits: 1, depth: 1 });
    origin.git('branch', 'patch-1', 'main');
    await gitOn(root).fetchMissing({ base: 'patch-1' }, options);
    expect(await gitOn(root).diff({ base: 'patch-1', head: 'HEAD', paths: [] })).toMatchObject({ ok: false });
  });
});

test('a clone that lacks nothing asks no remote', async () => {
  const repo: TestRepo = gitRepo({ 'a.txt': '1' });
  const base = repo.git('rev-parse', 'HEAD').trim();
  repo.git('remote', 'add', 'origin', 'http://127.0.0.1:1/never.git');
  repo.commit({ 'a.txt': '2' });
  await gitOn(repo.root).fetchMissing({ base, head: 'HEAD' }, options);
  expect(inClone(repo.root, 'status', '--porcelain')).toBe('');
});

describe('a remote', () => {
  /** A server that wants a password, or that never answers. */
  async function serve(answer: 'unauthorised' | 'silent') {
    const http = createServer((_request, response) => {
      if (answer === 'unauthorised') response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      http.close();
      http.closeAllConnections();
    });
    const address = http.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    return { url: `http://127.0.0.1:${port}/r.git`, asked: () => once(http, 'request') };
  }

  const missing = { base: 'a'.repeat(40), head: 'HEAD' };

  test('B131: that wants a password ends the attempt', async () => {
    const repo = gitRepo({ a: '1' });
    repo.git('remote', 'add', 'origin', (await serve('unauthorised')).url);
    await gitOn(repo.root).fetchMissing(missing, options);
    expect(await gitOn(repo.root).diff({ ...missing, paths: [] })).toMatchObject({
      ok: false,
      reason: expect.stringContaining(`run: git fetch origin ${missing.base}`) as unknown,
    });
  });

  test('that never answers is left at the timeout, and at once when the run is cancelled', async () => {
    const repo = gitRepo({ a: '1' });
    const { url, asked } = await serve('silent');
    repo.git('remote', 'add', 'origin', url);
    const early = asked();
    await gitOn(repo.root, { timeout_ms: 3000 }).fetchMissing(missing, options);
    await early;
    const again = asked();
    const cancel = new AbortController();
    const waiting = gitOn(repo.root).fetchMissing(missing, { env: {}, signal: cancel.signal });
    await again;
    const began = performance.now();
    cancel.abort();
    await waiting;
    expect(performance.now() - began).toBeLessThan(20_000); // git's own time would be 60 s
  });
});

test('a fetch gets proxies, certificates and the SSH agent of the runner, and nothing else', () => {
  const source = {
    https_proxy: 'p',
    NO_PROXY: 'n',
    SSH_AUTH_SOCK: 's',
    SSL_CERT_FILE: 'c',
    GITHUB_TOKEN: 't',
    GIT_DIR: 'g',
  };
  expect(networkEnvironment(source)).toEqual({
    https_proxy: 'p',
    NO_PROXY: 'n',
    SSH_AUTH_SOCK: 's',
    SSL_CERT_FILE: 'c',
  });
});
