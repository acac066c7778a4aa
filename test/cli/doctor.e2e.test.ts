import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { gitRepo } from '../helpers/git-repo.ts';

const cli = useCli();

test('doctor prints one line for each check, touches nothing and shows no key', async () => {
  const { root } = gitRepo({ 'a.txt': '1' });
  const env = { ANTHROPIC_API_KEY: 'sk-ant-not-for-anybody' };
  const { code, stdout, stderr } = await cli.run(['doctor', '--offline'], { cwd: root, env });
  expect(code).toBe(0);
  for (const name of ['node', 'git', 'workspace', 'sandbox', 'run folder', 'key', 'service', 'ci'])
    expect(stdout).toMatch(new RegExp(`^(ok|warn|skip) +${name}: `, 'm'));
  expect(stdout + stderr).not.toContain('not-for-anybody');
  expect(readdirSync(root).sort()).toEqual(['.git', 'a.txt']);
});

test('doctor ends with 2 when a check fails, and says so as JSON too', async () => {
  const { root } = gitRepo({ 'a.txt': '1' });
  const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
  const text = await cli.run(['doctor'], { cwd: root, env });
  expect(text.code).toBe(2);
  expect(text.stdout).toMatch(/^fail {2}service: no answer from 127\.0\.0\.1:9.*\n {6}to mend it: check the network/m);
  const json = await cli.run(['doctor', '--format', 'json', '--out', 'a.txt/out'], { cwd: root, env: {} });
  expect(json.code).toBe(2);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: false,
    checks: expect.arrayContaining([expect.objectContaining({ name: 'run folder', state: 'fail' })]) as unknown,
  });
});
