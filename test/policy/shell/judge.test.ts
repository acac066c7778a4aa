import { afterAll, describe, expect, test } from 'vitest';
import { judgeArgv } from '../../../src/policy/shell/decide.ts';
import { judgeShell } from '../../../src/policy/shell/judge.ts';
import type { PathJudge, ShellJudgement } from '../../../src/policy/shell/judgement.ts';
import { makePathJudge, makeRules, makeWorkspace } from './workspace.ts';

const workspace = makeWorkspace([{ dir: 'a/b' }, { symlink: 'link', to: 'a/b' }, { symlink: 'out', to: '..' }]);
afterAll(() => workspace.remove());

function rulesOf(allow: readonly string[], deny: readonly string[] = []) {
  const rules = makeRules(allow, deny);
  if (typeof rules === 'string') throw new Error(rules);
  return rules;
}

async function judge(text: string, allow: readonly string[], deny: readonly string[] = []): Promise<ShellJudgement> {
  return judgeShell(text, rulesOf(allow, deny), makePathJudge(workspace.root, ['a/**']), { delimiter: () => 'END' });
}

async function scriptOf(text: string, allow: readonly string[]): Promise<string> {
  const verdict = await judge(text, allow);
  return verdict.allowed ? verdict.script : `refused: ${verdict.reason}`;
}

describe('the new script', () => {
  test('quotes every word and runs echo, printf, test and [ as programs', async () => {
    expect(await scriptOf(`echo "it's" a\\ b`, ['echo *'])).toBe(`'/usr/bin/echo' 'it'\\''s' 'a b'\n`);
    expect(await scriptOf('[ -d a ] && printf x', ['[ *', 'printf *'])).toBe(
      `'/usr/bin/[' '-d' 'a' ']' && '/usr/bin/printf' 'x'\n`,
    );
  });

  test('leaves only $?, $# and globs open', async () => {
    expect(await scriptOf('echo "a$?b" $#', ['echo *'])).toBe(`'/usr/bin/echo' 'a'"$?"'b' "$#"\n`);
    expect(await scriptOf(`ls "a b"/*.t's' [^x]?`, ['ls *'])).toBe(`'ls' 'a b'/*.t's' [!x]?\n`);
  });

  test('puts here-documents behind the line they belong to, with a delimiter of its own', async () => {
    expect(await scriptOf("cat <<'A' | wc -l\n$(x)\nA\nwc <<< 'b c'", ['cat *', 'wc *'])).toBe(
      `'cat' <<'END' | 'wc' '-l'\n$(x)\nEND\n'wc' <<'END'\nb c\nEND\n`,
    );
  });

  test('writes what only bash knows in words that dash knows', async () => {
    expect(await scriptOf('ls |& cat', ['ls *', 'cat'])).toBe(`{ 'ls'; } 2>&1 | 'cat'\n`);
    expect(await scriptOf('ls &> a/x', ['ls *'])).toBe(`'ls' >'a/x' 2>&1\n`);
  });

  test('keeps the helpers of a repository off', async () => {
    expect(await scriptOf('git diff --stat', ['git diff *'])).toBe(
      `'git' 'diff' '--no-ext-diff' '--no-textconv' '--stat'\n`,
    );
  });

  test('holds a judged script where a shell was to run one', async () => {
    expect(await scriptOf(`sh -c "ls; ls"`, ['sh *', 'ls *'])).toBe(`'sh' '-c' ''\\''ls'\\''\n'\\''ls'\\''\n'\n`);
  });

  test('does not hold a here-document whose text holds the delimiter', async () => {
    expect(await scriptOf("cat <<'A'\nEND\nA", ['cat *'])).toContain('refused');
  });
});

describe('cd', () => {
  const CD = ['cd *', 'echo *', 'true', 'ls *'];
  const cases: readonly (readonly [string, boolean])[] = [
    ['cd a && echo x > b/f', true],
    ['cd a/b && echo x > f', true],
    ['cd a/b && echo x > ../f', true],
    ['cd a/b && echo x > ../../f', false],
    ['cd a/b; echo x > f', false], // the cd may have failed, and f at the top may not be written
    ['cd a/b || echo x > a/f', true],
    ['cd a/b || true; echo x > f', false],
    ['(cd a/b && true) && echo x > f', false],
    ['(cd a/b && echo x > f)', true],
    ['{ cd a/b && true; } && echo x > f', true],
    ['cd a/b | true; echo x > f', false],
    ['if cd a; then echo x > f; fi', true],
    ['if cd a; then true; else echo x > f; fi', false],
    ['! cd a || echo x > f', true],
    ['while cd a; do true; done', false],
    ['cd link && echo x > f', true],
    ['cd link && cd .. && echo x > f', true], // the real parent, which is a
    ['cd out && ls', false],
    ['cd a && cd .. && cd ..', false],
    ['cd missing', false],
    ['cd README.md', false],
  ];
  for (const [text, wanted] of cases) {
    test(`${wanted ? 'lets pass' : 'refuses'} ${text}`, async () => {
      const verdict = await judge(text, CD);
      expect(verdict.allowed, verdict.allowed ? verdict.script : verdict.reason).toBe(wanted);
    });
  }
});

describe('the effect', () => {
  const ALL = [
    'git *',
    'cat *',
    'npm test',
    'echo *',
    'find *',
    'sort *',
    'timeout *',
    'sed *',
    'touch *',
    'find a -delete',
    'cd *',
    'xargs *',
    'grep *',
  ];
  for (const [text, effect] of [
    ['cat README.md | grep x', 'read'],
    ['git log -1 && git status', 'read'],
    ['cd a && find . -name x', 'read'],
    ['timeout 5 git log', 'read'],
    ['cat README.md | xargs grep -n', 'read'],
    ['cat README.md > /dev/null 2>&1', 'read'],
    ['git commit -m x', 'write'],
    ['git branch x', 'write'],
    ['npm test', 'write'],
    ['cat README.md && touch x', 'write'],
    ['echo x > a/f', 'write'],
    ['sort -o a/f data.csv', 'write'],
    ['find a -delete', 'write'],
    ['sed -i s/a/b/ a/f', 'write'],
    ['timeout 5 npm test', 'write'],
  ] as const) {
    test(`of "${text}" is ${effect}`, async () => {
      const verdict = await judge(text, ALL);
      expect(verdict.allowed ? verdict.effect : verdict.reason).toBe(effect);
    });
  }
});

describe('a refusal', () => {
  test('says which command, which rule, and the narrowest rule that would allow it', async () => {
    const verdict = await judge('git status; git log --output=x', ['git *']);
    expect(verdict).toMatchObject({
      allowed: false,
      commands: [
        { argv: ['git', 'status'], verdict: 'allow', rule: 'git *' },
        { argv: ['git', 'log', '--output=x'], verdict: 'deny', narrowest_rule: 'git log --output=x' },
      ],
      suggestion: 'git log --output=x',
    });
  });

  test('by a deny rule names the rule and suggests nothing', async () => {
    const verdict = await judge('git push origin', ['git *'], ['git push *']);
    expect(verdict).toMatchObject({ allowed: false, commands: [{ verdict: 'deny', rule: 'git push *' }] });
    expect(verdict).not.toHaveProperty('suggestion');
  });

  test('lists every command, also behind the first refused one', async () => {
    const verdict = await judge('rm x; ls; rm y', ['ls *']);
    expect(verdict.commands.map((command) => command.verdict)).toEqual(['deny', 'allow', 'deny']);
  });

  test('comes before any file rule is asked', async () => {
    const asked: string[] = [];
    const answer = async (path: string) => {
      asked.push(path);
      return { ok: true, resolved: path } as const;
    };
    const paths: PathJudge = { read: answer, write: answer, directory: answer };
    await judgeShell('echo a > $(id)', rulesOf(['echo *']), paths);
    expect(asked).toEqual([]);
  });
});

describe('an argument list without a shell', () => {
  test('follows the same rules and the same table', () => {
    const rules = rulesOf(['git log *', 'timeout *', 'npm test'], ['git log -p *']);
    expect(judgeArgv(['git', 'log', '--format=$(id); x'], rules).verdict).toBe('allow');
    expect(judgeArgv(['git', 'log', '--output=x'], rules).verdict).toBe('deny');
    expect(judgeArgv(['git', 'log', '-1', '-p'], rules)).toMatchObject({ verdict: 'deny', rule: 'git log -p *' });
    expect(judgeArgv(['timeout', '5', 'npm', 'test'], rules).verdict).toBe('allow');
    expect(judgeArgv(['timeout', '5', 'rm', 'x'], rules).verdict).toBe('deny');
    expect(judgeArgv(['git', 'log', 'a\u0000b'], rules).verdict).toBe('deny');
    expect(judgeArgv([], rules).verdict).toBe('deny');
  });

  test('is refused where only file rules or a look into a script could clear it', () => {
    expect(judgeArgv(['sort', '-o', 'a/f'], rulesOf(['sort *'])).verdict).toBe('deny');
    expect(judgeArgv(['sh', '-c', 'ls'], rulesOf(['sh *', 'ls *'])).verdict).toBe('deny');
  });
});
