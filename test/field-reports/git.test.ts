import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { gitRepo } from '../helpers/git-repo.ts';
import { reply } from '../helpers/messages-server/reply.ts';
import { tempFolder } from '../helpers/temp.ts';
import { play } from './harness.ts';
import { diffRun, firstMessage } from './git-cases.ts';
import { resultsOf } from './requests.ts';
import type { TestRepo } from '../helpers/git-repo.ts';

vi.setConfig({ testTimeout: 30_000 });

const recloned = (workspace: string, from: string, ...options: string[]): void => {
  rmSync(workspace, { recursive: true });
  execFileSync('git', ['clone', '-q', ...options, `file://${from}`, workspace], { stdio: 'ignore' });
};

describe('the repository', () => {
  test('B119: of another user is used all the same, and nobody’s configuration changes', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'needs root');
    const run = await play({
      task: { tools: { git: {} }, context: [{ git: 'log', base: 'HEAD~1' }] },
      replies: [reply.tool('git', { args: ['log', '--oneline'] }), 'done'],
      prepare: ({ workspace }) => {
        const repo = gitRepo({ 'a.txt': 'a' }, workspace);
        repo.commit({ 'b.txt': 'b' }, 'second');
        for (const path of ['', '.git', '.git/config', '.git/HEAD']) chownSync(join(workspace, path), 12_345, 12_345);
      },
    });
    expect(run.code).toBe(0);
    expect(firstMessage(run)).toContain('second');
    expect(resultsOf(run.turns[1])).toMatchObject([
      { is_error: false, text: expect.stringContaining('second') as string },
    ]);
    expect(readdirSync(run.folder)).not.toContain('.gitconfig');
  });
});

describe('the ends of a range', () => {
  test('B121: of a fork are commit ids, fetched by id when they are missing, never looked up by branch name', async () => {
    const upstream = gitRepo({ 'a.txt': 'a\n' });
    upstream.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
    const base = upstream.git('rev-parse', 'HEAD').trim();
    upstream.git('checkout', '-q', '-b', 'feature');
    const decoy = upstream.commit({ 'decoy.txt': 'the branch of this name on origin\n' });
    upstream.git('checkout', '-q', '--detach', base);
    const head = upstream.commit({ 'a.txt': 'from the fork\n' });
    upstream.git('update-ref', 'refs/pull/7/head', head);
    upstream.git('checkout', '-q', 'main');
    const run = await diffRun(
      { base: '{{ inputs.base }}', head: '{{ inputs.head }}' },
      {
        task: {
          inputs: { base: {}, head: {} },
          context: [{ git: 'diff', base: '{{ inputs.base }}', head: '{{ inputs.head }}' }],
        },
        flags: ['--input', `base=${base}`, '--input', `head=${head}`],
        prepare: ({ workspace }) => recloned(workspace, upstream.root, '--branch', 'main', '--single-branch'),
      },
    );
    expect(run.code).toBe(0);
    expect(firstMessage(run)).toContain('+from the fork');
    expect(firstMessage(run)).not.toContain('decoy');
    expect(decoy).not.toBe(head);
  });

  test('B123: without a common ancestor in a shallow clone give the two-dot diff, said so, with the fetch-depth that mends it', async () => {
    const { upstream, base, head } = forked();
    const run = await diffRun(
      { base, head },
      {
        prepare: ({ workspace }) => {
          recloned(workspace, upstream.root, '--depth', '1', '--branch', 'side');
          execFileSync('git', ['fetch', '-q', '--depth', '1', 'origin', 'main'], { cwd: workspace, stdio: 'ignore' });
          renameSync(upstream.root, `${upstream.root}-gone`); // no network
          onTestFinished(() => rmSync(`${upstream.root}-gone`, { recursive: true, force: true }));
        },
      },
    );
    expect(run.code).toBe(0);
    expect(firstMessage(run)).toContain('no common ancestor');
    expect(firstMessage(run)).toContain('+side');
    expect(run.result.context).toMatchObject([{ notes: [expect.stringContaining('fetch-depth: 0') as string] }]);
    expect(run.result.warnings.join('\n')).toContain('no common ancestor');
  });

  test('B123: are deepened until they meet when a remote answers', async () => {
    const { upstream, base, head } = forked();
    const run = await diffRun(
      { base, head },
      { prepare: ({ workspace }) => recloned(workspace, upstream.root, '--depth', '1', '--branch', 'side') },
    );
    expect(run.code).toBe(0);
    expect(firstMessage(run)).not.toContain('no common ancestor');
    expect(firstMessage(run)).toContain('+side');
    expect(firstMessage(run)).not.toContain('only-on-main');
  });

  test.each([
    '--upload-pack=touch pwned',
    '-c core.pager=x',
    'ext::sh -c "touch pwned"',
    'main:../x',
    'a b',
    'HEAD@{1}',
    'x\ny',
    '..',
  ])('B133: are data: %j is a config error and starts nothing', async (base) => {
    const run = await play({
      task: { inputs: { base: {} }, context: [{ git: 'diff', base: '{{ inputs.base }}' }] },
      flags: [`--input=base=${base}`],
      prepare: ({ workspace }) => gitRepo({ 'a.txt': 'a' }, workspace),
    });
    expect(run.code).toBe(2);
    expect(existsSync(join(run.workspace, 'pwned'))).toBe(false);
  });

  test('B133: and the remote of a checkout cannot choose a transport that runs programs', async () => {
    const run = await diffRun(
      { base: 'a'.repeat(40) },
      {
        replies: [],
        prepare: ({ workspace, folder }) => {
          const repo = gitRepo({ 'a.txt': 'a' }, workspace);
          repo.git('remote', 'add', 'origin', `ext::sh -c "touch% ${join(folder, 'pwned')}"`);
          repo.git('config', 'protocol.ext.allow', 'always');
        },
      },
    );
    expect(run.code).toBe(2);
    expect(existsSync(join(run.folder, 'pwned'))).toBe(false);
  });

  test('B133: are read though the configuration names programs for everything; none of them starts', async () => {
    const programs = [
      'filter.a.clean', 'filter.a.smudge', 'filter.a.process', 'diff.external', 'diff.a.command', 'diff.a.textconv', 'merge.a.driver', 'difftool.a.cmd',
      'mergetool.a.cmd', 'trailer.a.cmd', 'trailer.a.command', 'tar.a.command', 'browser.a.cmd', 'man.a.cmd', 'gpg.program', 'gpg.ssh.defaultKeyCommand',
      'core.editor', 'core.gitProxy', 'core.alternateRefsCommand', 'core.sshCommand', 'core.fsmonitor', 'core.pager', 'sequence.editor',
      'interactive.diffFilter', 'pager.diff', 'credential.helper', 'remote.origin.uploadpack', 'remote.origin.receivepack',
    ]; // prettier-ignore
    const run = await diffRun(
      { base: 'HEAD' },
      {
        prepare: ({ workspace, folder }) => {
          const repo = gitRepo({ 'a.txt': 'a\n', '.gitattributes': '* filter=a diff=a merge=a\n' }, workspace);
          repo.commit({ 'a.txt': 'b\n' });
          writeFileSync(join(workspace, 'a.txt'), 'c\n');
          for (const name of programs) repo.git('config', name, `touch ${join(folder, 'pwned')};`);
          repo.git('config', 'submodule.a.update', 'merge');
        },
      },
    );
    expect(run.code).toBe(0);
    expect(firstMessage(run)).toContain('+c');
    expect(existsSync(join(run.folder, 'pwned'))).toBe(false);
  });

  test('B131: are not waited for: a remote that asks for a password gets no answer, and nobody is asked', async () => {
    const asked = createServer((_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void asked.close());
    await new Promise((resolve) => asked.once('listening', resolve));
    const address = asked.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const began = Date.now();
    const run = await diffRun(
      { base: 'b'.repeat(40) },
      {
        replies: [],
        prepare: ({ workspace }) => {
          const repo = gitRepo({ 'a.txt': 'a' }, workspace);
          repo.git('remote', 'add', 'origin', `http://127.0.0.1:${port}/x.git`);
          repo.git('config', 'credential.helper', '!touch pwned');
        },
      },
    );
    expect(run.code).toBe(2);
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(existsSync(join(run.workspace, 'pwned'))).toBe(false);
  });
});

/** A history in which `side` left `main` before the last commits of both. */
function forked(): { upstream: TestRepo; base: string; head: string } {
  const upstream = gitRepo({ 'a.txt': 'a\n' }, tempFolder());
  upstream.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  upstream.git('checkout', '-q', '-b', 'side');
  upstream.commit({ 'b.txt': 'b\n' });
  const head = upstream.commit({ 'a.txt': 'side\n' });
  upstream.git('checkout', '-q', 'main');
  const base = upstream.commit({ 'm.txt': 'only-on-main\n' });
  return { upstream, base, head };
}

test('B121: reads the event’s own ids, as a workflow hands them over', async () => {
  const run = await play({
    task: {
      context: [{ github_event: ['pull_request.head.sha', 'pull_request.head.repo.full_name'] }],
      sandbox: { mode: 'off', env: ['FIELD_RUN'], allow_untrusted: true },
    },
    beside: {
      'event.json': JSON.stringify({
        pull_request: { head: { sha: 'd'.repeat(40), repo: { full_name: 'fork/repo' } } },
      }),
    },
    env: { GITHUB_EVENT_PATH: 'event.json' },
    replies: ['done'],
    prepare: (place) => (place.env['GITHUB_EVENT_PATH'] = join(place.folder, 'event.json')),
  });
  expect(firstMessage(run)).toContain('d'.repeat(40));
  expect(firstMessage(run)).toContain('fork/repo');
});
