import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { literal } from '../../../src/policy/shell/judgement.ts';
import { judgeShell } from '../../../src/policy/shell/judge.ts';
import { matchesAllow } from '../../../src/policy/shell/rules.ts';
import { makePathJudge, makeRules } from './workspace.ts';

const STUBS = ['git', 'cat', 'ls', 'rm', 'touch', 'curl', 'npm', 'sort', 'grep', 'sed', 'evil', 'a', 'x'];
const ALLOW = [
  'git log *',
  'git status',
  'cat *',
  'ls *',
  'echo *',
  'npm test',
  'true',
  'false',
  'sort *',
  'grep *',
  'env *',
  'timeout *',
  'cd *',
  'sh *',
  'xargs *',
  'find *',
  'test *',
  'printf *',
];

// One fixed sample in every check; a longer hunt sets both.
const RUNS = Number(process.env['SHELL_FUZZ_RUNS'] ?? 3000);
const SEED = Number(process.env['SHELL_FUZZ_SEED'] ?? 20261130);

let base = '';
let work = '';

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'shell-fuzz-'));
  work = join(base, 'work');
  mkdirSync(join(base, 'stubs'));
  mkdirSync(join(work, 'src'), { recursive: true });
  mkdirSync(join(work, 'out'));
  for (const name of STUBS) {
    // One write for each call, so that both sides of a pipe can trace at the same time.
    writeFileSync(
      join(base, 'stubs', name),
      `#!/bin/dash\nprintf '%s\\n' "$(printf '%s\\037' "\${0##*/}" "$@")" >> "$TRACE"\n`,
    );
    chmodSync(join(base, 'stubs', name), 0o755);
  }
  for (const name of ['env', 'timeout', 'xargs', 'find', 'sh', 'mkdir', 'id']) {
    const target = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (target !== undefined) symlinkSync(target, join(base, 'stubs', name));
  }
  for (const name of ['--output=x', '-opwn', 'a.ts', 'src/b.ts', 'evil.sh']) writeFileSync(join(work, name), 'rm x\n');
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

const word = fc.constantFrom(
  '-1',
  '--oneline',
  'a',
  "'b c'",
  '"d;e"',
  '*.ts',
  'src/*',
  '*',
  '$?',
  '"$?"',
  '$x',
  '$(touch x)',
  '`rm a`',
  '\\;',
  "'$(rm a)'",
  '--output=x',
  '"--out"put=x',
  "$'\\x2d-output=x'",
  '{rm,a}',
  '--',
  '~',
  '#x',
  "''",
  '-exec',
  '{}',
  '+',
  '-c',
  "'rm a'",
  "'git status'",
  'rm',
  'A=1',
  '-I',
  '\\\n',
  '!',
  '[',
  ']',
  '-opwn',
  '-i',
  '<(rm a)',
  '$((1))',
  '"`rm a`"',
  '${x:-$(rm a)}',
);
const program = fc.constantFrom(
  'git',
  'git log',
  'git status',
  'cat',
  'ls',
  'echo',
  'npm test',
  'true',
  'false',
  'sort',
  'grep x',
  'env',
  'env ls',
  'timeout 5',
  'timeout 5 cat',
  'cd src',
  'cd ..',
  'sh -c',
  'xargs',
  'xargs cat',
  'find .',
  'find . -exec',
  'rm a',
  'evil',
  'test -f',
  'printf',
  'g\\it log',
  '"git" log',
  'A=1 git log',
  'eval',
  'command',
  'exec',
  '\\rm',
  "'rm'",
  'time',
  '!',
);
const redirect = fc.constantFrom(
  '',
  '',
  '',
  ' >/dev/null',
  ' 2>&1',
  ' > out/f',
  ' > rm',
  ' < a.ts',
  " <<< 'x y'",
  ' &> out/g',
  ' >> out/f 2>&1',
  ' 3>&1',
  " <<'E'\nrm a\nE\n",
  ' <<E\n$(rm a)\nE\n',
  ' <<-E\n\tx\n\tE\n',
  ' > ../z',
  ' {fd}>q',
);
const simple = fc
  .tuple(program, fc.array(word, { maxLength: 3 }), redirect)
  .map(([name, words, end]) => `${[name, ...words].join(' ')}${end}`);
const script = fc.letrec<{ script: string; part: string }>((tie) => ({
  part: fc.oneof(
    { weight: 6, arbitrary: simple },
    { weight: 1, arbitrary: tie('script').map((inner) => `( ${inner} )`) },
    { weight: 1, arbitrary: tie('script').map((inner) => `{ ${inner}\n}`) },
    { weight: 1, arbitrary: fc.tuple(tie('script'), tie('script')).map(([one, two]) => `if ${one}\nthen ${two}\nfi`) },
    { weight: 1, arbitrary: tie('part').map((inner) => `! ${inner}`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(tie('part'), fc.constantFrom('; rm a', ' & rm a', ' # x\\\nrm a', '\nrm a', ' |& rm a'))
        .map((both) => both.join('')),
    },
  ),
  script: fc
    .array(fc.tuple(tie('part'), fc.constantFrom('; ', ' && ', ' || ', ' | ', '\n', ' |& ', ' ;; ')), {
      minLength: 1,
      maxLength: 3,
    })
    .map((parts) =>
      parts.map(([part, operator], index) => (index === parts.length - 1 ? part : part + operator)).join(''),
    ),
})).script;

/** Every argument list that ran, as the tracing programs wrote it down. */
function trace(shell: 'bash' | 'dash', text: string): readonly (readonly string[])[] {
  const file = join(base, 'trace');
  writeFileSync(file, '');
  const flags = shell === 'bash' ? ['--norc', '--noprofile'] : [];
  spawnSync(`/bin/${shell}`, [...flags, '-c', text], {
    cwd: work,
    env: { PATH: join(base, 'stubs'), TRACE: file },
    stdio: 'ignore',
    timeout: 5000,
  });
  const lists = readFileSync(file, 'utf8')
    .split('\u001f\n')
    .filter((line) => line !== '');
  // Only the statuses of a failed redirect differ between the shells.
  return lists
    .map((line) => line.replace(/\d+/g, 'N').split('\u001f'))
    .sort((one, two) => (one.join(' ') < two.join(' ') ? -1 : 1));
}

const withoutHardening = (lists: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  lists.map((argv) => argv.filter((part) => part !== '--no-ext-diff' && part !== '--no-textconv'));

test(
  'whatever a random script holds, only commands named by a rule run, and the same ones as under bash',
  { timeout: 600_000 },
  async () => {
    const rules = makeRules(ALLOW);
    if (typeof rules === 'string') throw new Error(rules);
    const paths = makePathJudge(work, ['out/**']);
    let allowed = 0;
    await fc.assert(
      fc.asyncProperty(script, async (text) => {
        const verdict = await judgeShell(text, rules, paths);
        if (!verdict.allowed) return;
        allowed += 1;
        const ran = trace('dash', verdict.script);
        for (const argv of ran) {
          const isNamed = rules.allow.some((rule) => matchesAllow(rule, argv.map(literal)));
          expect(isNamed, `${text} ran ${argv.join(' ')}`).toBe(true);
        }
        // The shells word their error messages in their own way, and xargs would make arguments of them.
        if (/xargs/.test(text) && /&/.test(text)) return;
        // A loaded machine can cost one run a process; what differs three times differs.
        const same = [1, 2, 3].some(() =>
          isDeepStrictEqual(withoutHardening(trace('dash', verdict.script)), trace('bash', text)),
        );
        expect(same, text).toBe(true);
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    );
    expect(allowed).toBeGreaterThan(50);
  },
);
