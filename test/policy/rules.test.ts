import { describe, expect, test } from 'vitest';
import type { FileToolName, ToolRules } from '../../src/core/config.ts';
import { UsageError } from '../../src/core/errors.ts';
import { compileRules } from '../../src/policy/rules.ts';

const LIMITS = { max_output_bytes: 1000, on_denied: 'continue' } as const;

const file = (name: FileToolName, paths?: string[]): ToolRules => ({ name, ...(paths && { paths }), ...LIMITS });
const bash = (allow: string[], deny: string[] = []): ToolRules => ({ name: 'bash', allow, deny, ...LIMITS });
const git = (allow: string[]): ToolRules => ({ name: 'git', allow, ...LIMITS });

function mistake(rule: ToolRules): string {
  try {
    compileRules([rule]);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('rules that cannot be read or never match', () => {
  test.each<[string[], string]>([
    [[], 'admits nothing'],
    [['!src/**'], 'admits nothing'],
    [[''], 'is empty'],
    [['src/', 'a'], 'names a folder, which no file equals; write "src/**"'],
    [['/etc/**'], 'is absolute'],
    [['C:/x'], 'is absolute'],
    [['~/x'], 'home folder'],
    [['../x'], 'leaves the workspace'],
    [['src/../../x'], 'leaves the workspace'],
    [['src\\a.ts'], 'backslash'],
    [['src/\u0000'], 'control character'],
    [['src/**', '!src/**'], 'is excluded again'],
    [['src/**', '!**'], 'is excluded again'],
    [['.git/**'], 'the git folder'],
    [['.git/config'], 'the git folder'],
    [['sub/.GIT/x'], 'the git folder'],
    [['.github/workflows/**'], 'must be named exactly'],
    [['.github/workflows/*.yml'], 'must be named exactly'],
    [['**/AGENTS.md'], 'must be named exactly'],
    [['.claude/**'], 'must be named exactly'],
  ])('write_file paths %j are refused by name', (paths, message) => {
    expect(mistake(file('write_file', paths))).toMatch(/^tools\.write_file\.paths: /);
    expect(mistake(file('write_file', paths))).toContain(message);
  });

  test.each([[['.github/workflows/**']], [['**/AGENTS.md']], [['.claude/settings.json']]])(
    'reading %j is no mistake',
    (paths) => {
      expect(mistake(file('read_file', paths))).toBe('accepted');
    },
  );

  test.each([
    [['.github/workflows/ci.yml']],
    [['AGENTS.md', 'src/**']],
    [['**', '!dist/**']],
    [['.github/**']],
    [['app/[id]/*.tsx']],
  ])('writing %j is no mistake', (paths) => expect(mistake(file('edit_file', paths))).toBe('accepted'));

  test.each<[string[], string[], string]>([
    [[], [], 'names no command'],
    [['npm*'], [], 'tools.bash.allow[0]'],
    [['ls', 'a && b'], [], 'tools.bash.allow[1]'],
    [['ls'], [''], 'tools.bash.deny[0]'],
    [['git push'], ['git *'], '"git push" can never match: the deny rule "git *" covers it'],
    [['git push *'], ['git push *'], 'can never match'],
    [['git push --force *'], ['git push --force *'], 'can never match'],
  ])('bash allow %j deny %j is refused by name', (allow, deny, message) => {
    expect(mistake(bash(allow, deny))).toContain(message);
  });

  test('a deny rule that takes only part of an allow rule is no mistake', () => {
    expect(mistake(bash(['git log *', 'npm test'], ['git log --output*', 'npm test --silent']))).toBe('accepted');
    expect(mistake(bash(['git push *'], ['git push']))).toBe('accepted');
  });

  test.each(['git log', 'log *', '', '-c', 'LOG', '*'])('git allow %j is refused by name', (name) => {
    expect(mistake(git(['log', name]))).toContain(`tools.git.allow: "${name}"`);
  });
});

describe('compiled rules', () => {
  test('name the tools once and which of them end the run when refused', () => {
    const rules = compileRules([file('read_file'), { ...git(['log']), on_denied: 'fail' }, file('read_file', ['a'])]);
    expect(rules.names).toEqual(['read_file', 'git']);
    expect([...rules.fatal]).toEqual(['git']);
    expect(rules.files.get('read_file')).toHaveLength(2);
    expect(rules.shell).toBeUndefined();
  });
});
