import type { Arg, Finding, Inspection } from './judgement.ts';

/** `sh -c TEXT` hands its text on to be judged; `sh FILE` needs a rule for the file; all else is refused. */
export function lookAtShell(args: readonly Arg[]): Inspection {
  const first = args[1];
  const program = args[0]?.text ?? 'sh';
  if (first?.text === '--version' && args.length === 2) return { findings: [], wrapped: [], launches: true };
  if (first?.text === '-c' && args[2]?.kind === 'literal' && args.length === 3) {
    return { findings: [], wrapped: [], launches: true, script: { index: 2, text: args[2].text } };
  }
  if (first?.kind === 'literal' && /^[^-+]/.test(first.text)) {
    return { findings: [], wrapped: [{ index: 1, args: args.slice(1) }], launches: true };
  }
  const findings: Finding[] = args.map((_, index) => ({
    index: index + 1,
    reason: `${program}: a star admits neither inline code nor options`,
  }));
  return { findings, wrapped: [], launches: true };
}
