import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { github, runOn } from '../helpers/github-server/step.ts';
import { HOSTILE, inAnnotation, inMarkdown } from '../helpers/hostile-values.ts';
import { submit } from '../helpers/step.ts';
import { tempTree } from '../helpers/temp.ts';

// A real process, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const LEVELS = ['error', 'warning', 'notice'];
const findings = HOSTILE.map(([, m], index) => ({ l: LEVELS[index % 3] ?? '', f: m, m }));
const task = {
  output: { schema: { type: 'object', properties: { findings: { type: 'array' } }, required: ['findings'] } },
  findings: { items: '/findings', path: '/f', level: '/l', message: '/m' },
};
const lineWith = (text: string, part: string): string | undefined =>
  text.split('\n').find((line) => line.includes(part));

test('whatever a model writes stands in summary, comment, annotations and outputs as text', async () => {
  const server = await github();
  const turns = [submit({ findings })];
  const folder = tempTree({ env: '', path: '' });
  const { status, stdout, stderr, summary, outputs } = await runOn(server, {
    turns,
    task,
    inputs: { args: '--verbose' },
    env: { GITHUB_ENV: join(folder, 'env'), GITHUB_PATH: join(folder, 'path') },
  });
  for (const file of ['env', 'path']) expect(readFileSync(join(folder, file), 'utf8')).toBe('');
  expect(status).toBe(0);
  const body = server.comments[0]?.body ?? '';
  for (const [what, value] of HOSTILE) {
    const cell = `| ${inMarkdown(value)} |`;
    expect(lineWith(summary, cell), what).toMatch(/^\| (?:error|warning|notice) \|.*\|$/);
    expect(lineWith(body, cell), what).toMatch(/^\| (?:error|warning|notice) \|.*\|$/);
    expect(lineWith(stdout, `::${inAnnotation(value)}`), what).toMatch(/^::(?:error|warning|notice) (?:title|file)=/);
  }
  expect(JSON.parse(outputs['output'] ?? '')).toEqual({ findings });
  expect(Object.keys(outputs)).toHaveLength(15);
  // One command for each finding, one for the token; no text of the model is one.
  const commands = stdout.split(/\r\n|\r|\n/).filter((line) => line !== '');
  expect(commands.filter((line) => !/^::(?:error|warning|notice|add-mask)\b/.test(line))).toEqual([]);
  expect(commands).toHaveLength(HOSTILE.length + 1);
  expect(commands.filter((line) => /##\w*\[/.test(line))).toEqual([]);
  expect(stderr.split(/\r\n|\r|\n/).filter((line) => /^\s*::|##\w*\[/.test(line))).toEqual([]);
  expect(JSON.parse(readFileSync(outputs['output-file'] ?? '', 'utf8'))).toEqual({ findings });
});

test('the table of the page lists what the test gives a run', () => {
  const page = readFileSync(new URL('../../docs/github-action.md', import.meta.url), 'utf8');
  for (const [what] of HOSTILE) expect(page).toContain(`| ${what} |`);
});
