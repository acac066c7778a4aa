import { describe, expect, test } from 'vitest';
import gitTable from '../../../src/policy/danger-git.json' with { type: 'json' };
import { dangerEntries, findEntry } from '../../../src/policy/shell/danger-table.ts';
import type { ProgramEntry } from '../../../src/policy/shell/danger-types.ts';
import { judgeArgv } from '../../../src/policy/shell/decide.ts';
import { makeRules } from './workspace.ts';

const LISTS = [
  'names',
  'runs',
  'writes',
  'config',
  'outside',
  'sends',
  'read_path',
  'write_path',
  'safe',
  'value_longs',
  'flags',
  'info',
  'only',
  'subcommands',
  'launcher_words',
  'pattern_options',
];
const TEXTS = ['why', 'value_shorts', 'bare', 'operands', 'look', 'needs', 'module_option', 'operand_pattern'];
const FLAGS = ['single_dash', 'stop_at_operand', 'all', 'named', 'glob_safe', 'opaque', 'strips_dashes', 'any_dashes'];
const OTHERS = ['first_path', 'write_from', 'launcher', 'named_values'];
const DANGEROUS = ['runs', 'writes', 'config', 'outside', 'sends'] as const;

function verdict(rule: string, argv: readonly string[]): string {
  const rules = makeRules([rule]);
  return typeof rules === 'string' ? rules : judgeArgv(argv, rules).verdict;
}

/** What is wrong with an entry of the table, in words. */
function problems(entry: ProgramEntry): readonly string[] {
  return Object.entries(entry).flatMap(([key, value]: [string, unknown]) => {
    if (LISTS.includes(key))
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
        ? []
        : [`${key} is no list of texts`];
    if (TEXTS.includes(key)) return typeof value === 'string' ? [] : [`${key} is no text`];
    if (FLAGS.includes(key)) return value === true ? [] : [`${key} is not true`];
    return OTHERS.includes(key) ? [] : [`${key} is not known`];
  });
}

describe('the danger table', () => {
  test('holds nothing but what its types say', () => {
    expect(
      dangerEntries().flatMap((entry) => problems(entry).map((problem) => `${entry.names[0]}: ${problem}`)),
    ).toEqual([]);
  });

  test('names every program once', () => {
    const names = dangerEntries().flatMap((entry) => entry.names);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('holds only expressions that can be read', () => {
    const sources = dangerEntries().flatMap((entry) => [
      ...(entry.only ?? []),
      entry.needs ?? '',
      entry.named_values?.pattern ?? '',
    ]);
    for (const source of sources) expect(() => new RegExp(source)).not.toThrow();
  });

  test('knows a program by its path and with its version, and nothing by the names of objects', () => {
    expect(findEntry('/usr/bin/python3.12')?.names).toContain('python');
    expect(findEntry('gawk')?.look).toBe('awk');
    expect(findEntry('constructor')).toBeUndefined();
    expect(findEntry('__proto__')).toBeUndefined();
  });

  const plain = dangerEntries().filter((entry) => entry.launcher === undefined && entry.all !== true);
  for (const entry of plain) {
    const name = entry.names[0] ?? '';
    const options = DANGEROUS.flatMap((effect) => entry[effect] ?? []);
    if (options.length === 0) continue;
    test(`keeps a star from admitting any dangerous option of ${name}`, () => {
      const spelled = options.flatMap((option) => [
        [option, '@v'],
        // A short option takes what is glued to it, an equals sign included.
        [option.length > 2 || entry.single_dash === true ? `${option}=@v` : `${option}@v`],
        option.startsWith('--') ? [option.slice(0, -1), '@v'] : [option, '@v'],
      ]);
      const safe = spelled.filter((words) => words[0] === undefined || entry.safe?.includes(words[0]) !== true);
      expect(safe.filter((words) => verdict(`${name} *`, [name, ...words]) === 'allow')).toEqual([]);
    });
  }

  test('keeps a star from admitting any argument of a program that has no harmless use', () => {
    const all = dangerEntries()
      .filter((entry) => entry.all === true)
      .flatMap((entry) => entry.names);
    const rules = all.filter((name) => name !== '[[');
    expect(
      rules.filter((name) => verdict(`${name} *`, [name, 'a']) === 'allow' || verdict(`${name} *`, [name]) === 'allow'),
    ).toEqual([]);
  });

  test('admits what an exact rule spells, dangerous or not', () => {
    for (const text of ['sort -o x y', 'node -e 1', 'git -c a=b log', 'sudo id', 'tar xf a', 'eval x']) {
      expect(verdict(text, text.split(' '))).toBe('allow');
    }
  });
});

describe('the table of git sub-commands', () => {
  const COMMON = [
    ...gitTable.common.runs,
    ...gitTable.common.writes,
    ...gitTable.common.outside,
    ...gitTable.common.config,
  ];

  test('keeps a star from admitting what is dangerous for every sub-command', () => {
    const names = Object.keys(gitTable.subcommands).filter((name) => name !== 'config');
    const admitted = names.flatMap((name) =>
      COMMON.filter((option) => verdict(`git ${name} *`, ['git', name, `${option}=v`]) === 'allow').map(
        (option) => `${name} ${option}`,
      ),
    );
    expect(admitted).toEqual([]);
  });

  test('admits the plain use of what only reads', () => {
    const reads = Object.entries(gitTable.subcommands)
      .filter(([, entry]) => 'reads' in entry)
      .map(([name]) => name);
    expect(reads.filter((name) => verdict('git *', ['git', name, 'HEAD']) === 'deny')).toEqual([]);
    expect(reads).toContain('log');
  });
});
