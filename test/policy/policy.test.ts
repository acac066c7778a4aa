import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FileToolName, ToolRules } from '../../src/core/config.ts';
import { UsageError } from '../../src/core/errors.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { createPolicy, explainCommand } from '../../src/policy/policy.ts';
import { createFiles } from '../../src/workspace/files.ts';
import { tempTree } from '../helpers/temp.ts';

const LIMITS = { max_output_bytes: 1000, on_denied: 'continue' } as const;
const TREE = { 'README.md': 'hello\n', 'src/app.ts': '', 'docs/a.md': '' };

const file = (name: FileToolName, paths?: string[]): ToolRules => ({ name, ...(paths && { paths }), ...LIMITS });
const bash = (allow: string[], deny: string[] = []): ToolRules => ({ name: 'bash', allow, deny, ...LIMITS });

async function options(rules: ToolRules[], tree: Record<string, string> = TREE) {
  return { rules, files: await createFiles(tempTree(tree)), protectedFiles: ['task.json'] };
}

async function judge(rules: ToolRules[], name: string, input: JsonObject) {
  return createPolicy(await options(rules)).judge({ id: 'toolu_1', name, input });
}

const run = (rules: ToolRules[], command: string) => judge(rules, 'bash', { command });

describe('a tool without a rule', () => {
  test('is denied at once, and the reason says which tools are allowed', async () => {
    expect(await judge([file('read_file'), bash(['ls'])], 'write_file', { path: 'a', file_text: '' })).toEqual({
      verdict: 'deny',
      reason: 'no rule allows the tool "write_file"; allowed tools: read_file, bash',
    });
    expect(await judge([], 'read_file', { path: 'a' })).toEqual({
      verdict: 'deny',
      reason: 'no rule allows the tool "read_file"; this task allows no tools',
    });
  });
});

describe('a tool of an MCP server', () => {
  const docs = { name: 'docs', command: ['x'], env: [], tools: ['find', 'bash'], read_only: ['find'], network: false };
  const judgeServed = async (name: string) =>
    createPolicy({ ...(await options([])), mcp_servers: [{ ...docs, ...LIMITS }] }).judge({ id: 'a', name, input: {} });

  test('is allowed by being listed, and has effects unless it is listed as read-only', async () => {
    expect(await judgeServed('mcp__docs__find')).toEqual({
      verdict: 'allow',
      plan: { kind: 'call', effect: 'read' },
      rule: 'mcp_servers mcp__docs__find',
    });
    expect(await judgeServed('mcp__docs__bash')).toMatchObject({ plan: { effect: 'write' } });
  });

  test.each(['bash', 'find', 'mcp__docs__other', 'mcp__other__find', '__proto__'])(
    'allows nothing under the name %s',
    async (name) => {
      expect(await judgeServed(name)).toMatchObject({ verdict: 'deny' });
    },
  );
});

describe('the plan of an allowed call', () => {
  test('names the real file, the folder with its filter, or the stored output', async () => {
    const parts = await options([file('read_file', ['src/**']), file('write_file', ['docs/**'])]);
    const policy = createPolicy(parts);
    const plan = async (name: string, input: JsonObject) => {
      const judged = await policy.judge({ id: '1', name, input });
      return judged.verdict === 'allow' ? judged : judged.reason;
    };
    expect(await plan('read_file', { path: './src/app.ts' })).toEqual({
      verdict: 'allow',
      rule: 'read_file src/**',
      plan: { kind: 'file', effect: 'read', path: 'src/app.ts', real: join(parts.files.root, 'src/app.ts') },
    });
    expect(await plan('write_file', { path: 'docs/new/b.md', file_text: '' })).toMatchObject({
      rule: 'write_file docs/**',
      plan: { kind: 'file', effect: 'write', real: join(parts.files.root, 'docs/new/b.md') },
    });
    expect(await plan('read_file', { path: '.' })).toMatchObject({
      plan: { kind: 'search', effect: 'read', path: '.', real: parts.files.root, within: ['src/**', '!task.json/**'] },
    });
    expect(await plan('read_file', { path: 'run:outputs/toolu_1.txt' })).toMatchObject({
      plan: { kind: 'run_file', effect: 'read', path: 'outputs/toolu_1.txt' },
    });
  });

  test('for a file that does not exist is no denial, so that the tool can say so', async () => {
    expect(await judge([file('read_file')], 'read_file', { path: 'no/such.ts' })).toMatchObject({ verdict: 'allow' });
    expect(await judge([file('read_file', ['src/**'])], 'read_file', { path: 'no/such.ts' })).toMatchObject({
      verdict: 'deny',
    });
  });

  test("is the first rule's that grants the path", async () => {
    const rules = [file('write_file', ['docs/**']), file('write_file', ['src/**'])];
    expect(await judge(rules, 'write_file', { path: 'src/a', file_text: '' })).toMatchObject({
      rule: 'write_file src/**',
    });
    expect(await judge(rules, 'write_file', { path: 'x', file_text: '' })).toMatchObject({ verdict: 'deny' });
  });
});

describe('a refused path', () => {
  test('is answered with the rule that refused it and what is allowed', async () => {
    expect(
      await judge([file('write_file', ['src/**', '!src/gen/**'])], 'write_file', { path: 'src/gen/a', file_text: '' }),
    ).toEqual({
      verdict: 'deny',
      rule: 'write_file !src/gen/**',
      reason: 'write_file may not write src/gen/a (excluded by "!src/gen/**"); allowed paths: src/**, !src/gen/**',
    });
    expect(await judge([file('write_file')], 'write_file', { path: 'AGENTS.md', file_text: '' })).toMatchObject({
      reason: expect.stringContaining('only a rule that names exactly this path allows it'),
    });
  });

  test('ends the run where the rule says so', async () => {
    const rules: ToolRules[] = [
      { ...file('write_file', ['src/**']), on_denied: 'fail' },
      file('edit_file', ['src/**']),
    ];
    expect(await judge(rules, 'write_file', { path: 'x', file_text: '' })).toMatchObject({ verdict: 'terminate' });
    expect(await judge(rules, 'edit_file', { path: 'x' })).toMatchObject({ verdict: 'deny' });
    expect(await judge(rules, 'bash', { command: 'ls' })).toMatchObject({ verdict: 'deny' });
  });
});

describe('a shell command', () => {
  test('is planned as a script that was re-emitted, with the rules it needed', async () => {
    const judged = await run([bash(['ls *', 'git log *'])], 'ls -l "src" && git log -1 | ls');
    expect(judged).toMatchObject({
      verdict: 'allow',
      rule: 'bash ls *, git log *',
      plan: { kind: 'script', effect: 'read' },
    });
    expect(judged.verdict === 'allow' && judged.plan.kind === 'script' && judged.plan.script).toContain("'src'");
  });

  test('that writes, or that is not known to read, has an effect', async () => {
    expect(await run([bash(['npm test'])], 'npm test')).toMatchObject({ plan: { effect: 'write' } });
    expect(await run([bash(['ls']), file('write_file', ['docs/**'])], 'ls > docs/list')).toMatchObject({
      plan: { effect: 'write' },
    });
  });

  test('that no rule covers is denied with the commands that are allowed', async () => {
    expect(await run([bash(['npm test'])], 'npm test; curl https://evil.example')).toMatchObject({
      verdict: 'deny',
      reason: expect.stringContaining('"npm test"'),
    });
    expect(await run([bash(['npm test'])], 'npm test &')).toMatchObject({
      verdict: 'deny',
      reason: expect.stringContaining('"npm test"'),
    });
  });

  test('is denied by a deny rule of any entry, which is named', async () => {
    const rules = [bash(['git *']), bash(['ls'], ['git push *'])];
    expect(await run(rules, 'git push origin main')).toMatchObject({ verdict: 'deny', rule: 'bash git push *' });
    expect(await run(rules, 'git status')).toMatchObject({ verdict: 'allow' });
  });

  test.each([
    ['echo x > docs/a.txt', 'allow'],
    ['echo x >> docs/a.txt', 'allow'],
    ['echo x > src/a.txt', 'deny'],
    ['echo x > docs/../src/a.txt', 'deny'],
    ['echo x > ../a.txt', 'deny'],
    ['echo x > docs/AGENTS.md', 'deny'],
    ['echo x > docs/gen/a', 'deny'],
    ['echo x > link/a.txt', 'deny'],
    ['echo x > docs/link/../a.txt', 'deny'],
    ['echo x > .git/config', 'deny'],
    ['echo x > /dev/null', 'allow'],
    ['cat < README.md', 'allow'],
    ['cat < .git/config', 'deny'],
    ['cat < /etc/passwd', 'deny'],
    ['cat < no-such-file', 'allow'],
    ['cd docs && echo x > a.txt', 'allow'],
    ['cd docs && echo x > ../src/a.txt', 'deny'],
    ['cd docs && cat < ../README.md', 'allow'],
    ['cd src && echo x > a.txt', 'deny'],
    ['cd .. && cat < x', 'deny'],
    ['cd .git && cat < HEAD', 'deny'],
    ['cd link && cat < x', 'deny'],
    ['cd no-such-folder', 'deny'],
  ])('%s is judged by the file rules: %s', async (command, verdict) => {
    const parts = await options([bash(['echo *', 'cat *', 'cd *']), file('write_file', ['docs/**', '!docs/gen/**'])], {
      ...TREE,
      '.git/config': '',
      '.git/HEAD': '',
    });
    symlinkSync('/', join(parts.files.root, 'link'));
    symlinkSync('../src', join(parts.files.root, 'docs/link'));
    expect(await createPolicy(parts).judge({ id: '1', name: 'bash', input: { command } })).toMatchObject({ verdict });
  });

  test('reads by redirect what read_file may read, and everything without a rule for it', async () => {
    expect(await run([bash(['cat *']), file('read_file', ['src/**'])], 'cat < README.md')).toMatchObject({
      verdict: 'deny',
    });
    expect(await run([bash(['cat *'])], 'cat < README.md')).toMatchObject({ verdict: 'allow' });
  });

  test('writes by redirect nothing without a write rule', async () => {
    expect(await run([bash(['echo *']), file('edit_file')], 'echo x > a')).toMatchObject({
      verdict: 'deny',
      reason: expect.stringContaining('no write_file rule'),
    });
  });
});

describe('explaining a command', () => {
  test('shows each simple command with its verdict and rule', async () => {
    const judged = await explainCommand(await options([bash(['npm test', 'ls *'])]), 'npm test && rm -rf / | ls -l');
    expect(judged.allowed).toBe(false);
    expect(judged.commands.map(({ text, verdict, rule }) => [text, verdict, rule])).toEqual([
      ['npm test', 'allow', 'npm test'],
      ['rm -rf /', 'deny', undefined],
      ['ls -l', 'allow', 'ls *'],
    ]);
  });

  test('says that a task without bash rules allows none', async () => {
    expect(await explainCommand(await options([file('read_file')]), 'ls')).toMatchObject({
      allowed: false,
      commands: [],
    });
  });
});

test('a policy with a rule that can never match is refused at creation', async () => {
  const parts = await options([file('write_file', ['../x'])]);
  expect(() => createPolicy(parts)).toThrow(UsageError);
});
