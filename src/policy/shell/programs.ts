import type { Arg, Finding, Inspection } from './judgement.ts';
import { leadingGlobs, scanOptions } from './options.ts';
import { readFinding } from './paths.ts';

const NOTHING: Inspection = { findings: [], wrapped: [], launches: false };

/** `test` and `[`: bash evaluates the operand of -v, even when it is quoted. */
export function lookAtTest(args: readonly Arg[]): Inspection {
  const findings = args.flatMap((arg, index) =>
    index > 0 && (arg.text === '-v' || arg.text === '-R')
      ? [{ index, reason: `test ${arg.text} evaluates its operand` }]
      : [],
  );
  return { ...NOTHING, findings };
}

/** `printf`: -v would set a variable and evaluate its name, and bash knows no other option. */
export function lookAtPrintf(args: readonly Arg[]): Inspection {
  const first = args[1]?.text ?? '';
  if (!first.startsWith('-') || first === '--') return NOTHING;
  const reason = first.startsWith('-v')
    ? 'printf -v sets a variable and evaluates its name'
    : 'a printf format that starts with a dash needs -- before it';
  return { ...NOTHING, findings: [{ index: 1, reason }] };
}

const JQ_OPTIONS = {
  config: ['-L', '--library-path'],
  runs: ['-f', '--from-file', '--run-tests', '--debug-dump-disasm', '--debug-trace'],
  value_shorts: 'fL',
  value_longs: ['--indent', '--from-file', '--library-path'],
} as const;
const JQ_TWO = new Set(['--arg', '--argjson']);
const JQ_FILE = new Set(['--slurpfile', '--rawfile', '--argfile']);

/** `jq`: the filter may not read the environment or modules, files stay inside. */
export function lookAtJq(args: readonly Arg[]): Inspection {
  const scan = scanOptions(args, 1, 'jq', JQ_OPTIONS);
  const findings: Finding[] = [...scan.findings, ...leadingGlobs(args, scan.end)];
  const values = new Set<number>();
  for (const [index, { text }] of args.entries()) {
    if (!JQ_TWO.has(text) && !JQ_FILE.has(text)) continue;
    values.add(index + 1).add(index + 2);
    const file = args[index + 2];
    if (JQ_FILE.has(text) && file !== undefined) findings.push(...present(readFinding(file, index + 2, 'jq')));
  }
  const operands = scan.operands.filter(({ index }) => !values.has(index));
  for (const [place, { index, arg }] of operands.entries()) {
    if (place > 0) findings.push(...present(readFinding(arg, index, 'jq')));
    else if (arg.kind !== 'literal') findings.push({ index, reason: 'the jq filter must be literal' });
    // Which operand is the filter is not quite sure, so all but plain file names are looked at.
    const isFile = place > 0 && /^[\w./-]+$/.test(arg.text);
    if (!isFile && readsEnvironment(arg.text))
      findings.push({ index, reason: 'this jq filter may read the environment or load modules' });
  }
  return { ...NOTHING, findings };
}

function readsEnvironment(filter: string): boolean {
  const withoutKeys = filter.replace(/(?<![.\d])\.env\b|"env"/g, '.key');
  return /\benv\b|\bENV\b|\b(?:import|include|modulemeta|get_search_list|__prog_args)\b/.test(withoutKeys);
}

function present(finding: Finding | undefined): readonly Finding[] {
  return finding === undefined ? [] : [finding];
}
