import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { tempTree } from '../helpers/temp.ts';

const cli = useCli();
const SECRET = 'sk-ant-api03-veryverysecretvalue0123456789';
const task = {
  prompt: 'Look.',
  sandbox: { mode: 'off' },
  tools: { read_file: {} },
  model: { provider: 'script', script: { turns: [{ tool_use: [{ name: 'read_file', input: { path: 'notes.txt' } }] }, { text: `It says ${SECRET}.` }] } },
}; // prettier-ignore
const files = { 'task.json': JSON.stringify(task), 'notes.txt': `key ${SECRET}\n${'line\n'.repeat(300)}end\n` };

test('--verbose keeps every text in full in the run folder, without secrets', async () => {
  const cwd = tempTree(files);
  const env = { DEPLOY_TOKEN: SECRET };
  const { code } = await cli.run(['task.json', '--out', 'out', '--verbose'], { cwd, env });
  expect(code).toBe(0);
  const file = join(cwd, 'out/verbose.log');
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/== \d+ \S+ result of read_file \(ok\)/);
  expect(text.match(/line/g)?.length).toBeGreaterThanOrEqual(300);
  expect(text).toContain('[redacted]');
  expect(text).not.toContain(SECRET);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const result: unknown = JSON.parse(readFileSync(join(cwd, 'out/result.json'), 'utf8'));
  expect(result).toMatchObject({ artifacts: { verbose: 'verbose.log' } });
  expect((await cli.run(['task.json', '--out', 'out'], { cwd, env })).code).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test('--quiet prints nothing to stderr when all went well', async () => {
  const sandboxed = { ...task, sandbox: { mode: 'auto' } };
  const cwd = tempTree({ ...files, 'task.json': JSON.stringify(sandboxed) });
  const { code, stderr } = await cli.run(['task.json', '--quiet'], { cwd });
  expect(code).toBe(0);
  expect(stderr.replace(/^warning: commands run without a sandbox.*\n/m, '')).toBe('');
});
