import { UsageError } from '../core/errors.ts';
import { showCount, showSpan, showUsd } from '../core/figures.ts';
import { parseDuration } from '../core/measures.ts';
import { worstCode } from '../core/outcome.ts';
import type { Comparison, Side } from './compare.ts';

/** How much more run B may have: a share of run A's, or an amount in the measure's own unit. */
export type Allowance = { percent: number } | { amount: number };

export const THRESHOLDS = {
  'max-cost-increase': { what: 'cost', of: (side: Side) => side.cost_usd, show: showUsd },
  'max-tokens-increase': {
    what: 'tokens',
    of: (side: Side) => side.total_input_tokens + side.total_output_tokens,
    show: showCount,
  },
  'max-turns-increase': { what: 'turns', of: (side: Side) => side.turns, show: showCount },
  'max-tool-calls-increase': { what: 'tool calls', of: (side: Side) => side.tool_calls, show: showCount },
  'max-duration-increase': { what: 'time', of: (side: Side) => side.duration_ms, show: showSpan },
  'max-new-denials': { what: 'denied calls', of: (side: Side) => side.denials, show: showCount },
} as const;

const NEW_FINDINGS = 'max-new-findings';
const NAMES = [...Object.keys(THRESHOLDS), NEW_FINDINGS];

/** What one threshold came to; `message` says it with the numbers. */
export interface Verdict {
  /** The option's name, or `verdict`: how run B ended. */
  name: string;
  /** As given. */
  limit: string | null;
  ok: boolean;
  message: string;
}

/** Options given by name, as texts: only those that are thresholds. */
export type GivenThresholds = Partial<Record<string, string>>;

/** The thresholds among options, checked; throws UsageError for a text that is no allowance. */
export function readThresholds(given: GivenThresholds): Map<string, { text: string; allowance: Allowance }> {
  const entries = NAMES.flatMap((name) => {
    const text = given[name];
    return text === undefined ? [] : [[name, { text, allowance: readAllowance(name, text) }] as const];
  });
  return new Map(entries);
}

function readAllowance(name: string, text: string): Allowance {
  const counted = name === NEW_FINDINGS || name === 'max-new-denials';
  const [, digits, percent] = /^(\d{1,15}(?:\.\d{1,10})?)(%?)$/.exec(text) ?? [];
  if (digits !== undefined && !(counted && (percent === '%' || digits.includes('.'))))
    return percent === '%' ? { percent: Number(digits) } : { amount: Number(digits) };
  const duration = name === 'max-duration-increase' ? parseDuration(text) : undefined;
  if (duration !== undefined) return { amount: duration };
  const expected = counted ? 'a whole number, for example 0' : 'a share or an amount, for example 50% or 3';
  throw new UsageError(`--${name}: found ${JSON.stringify(text)}, expected ${expected}`);
}

/**
 * What each threshold came to. Measures of runs that ended differently say little: once a threshold is given, run B may
 * not end worse than run A either.
 */
export function judgeThresholds(comparison: Comparison, given: ReturnType<typeof readThresholds>): Verdict[] {
  if (given.size === 0) return [];
  const judged = [...given].map(([name, { text, allowance }]) => judge(comparison, { name, text, allowance }));
  return [endingVerdict(comparison), ...judged];
}

function endingVerdict({ a, b }: Comparison): Verdict {
  const worse = a.exit_code !== b.exit_code && worstCode([a.exit_code, b.exit_code]) === b.exit_code;
  const ends = `A ended with ${a.exit_reason} (${a.exit_code}), B with ${b.exit_reason} (${b.exit_code})`;
  return { name: 'verdict', limit: null, ok: !worse, message: worse ? `B ended worse: ${ends}` : ends };
}

interface Asked {
  name: string;
  text: string;
  allowance: Allowance;
}

function judge(comparison: Comparison, { name, text, allowance }: Asked): Verdict {
  if (name === NEW_FINDINGS) {
    const [inA, inB] = [comparison.a.findings, comparison.b.findings];
    if (inA === null || inB === null) return unknown({ name, text, what: 'list of findings', a: inA, b: inB });
    const count = comparison.findings.new.length;
    const most = 'amount' in allowance ? allowance.amount : 0;
    return { name, limit: text, ok: count <= most, message: `${count} new findings, at most ${text} allowed` };
  }
  const measure = THRESHOLDS[name as keyof typeof THRESHOLDS]; // readThresholds admits only these names
  const [a, b] = [measure.of(comparison.a), measure.of(comparison.b)];
  if (a === null || b === null) return unknown({ name, text, what: measure.what, a, b });
  const most = 'percent' in allowance ? a * (1 + allowance.percent / 100) : a + allowance.amount;
  // A sum of decimal shares may miss the last bit: 0.1 and half of it is not quite 0.15.
  const ok = b <= most + Math.abs(most) * 1e-12;
  const change = `${measure.show(a)} -> ${measure.show(b)}${a > 0 ? ` (${signed(((b - a) / a) * 100)}%)` : ''}`;
  return { name, limit: text, ok, message: `${measure.what} ${change}, at most +${text} allowed` };
}

interface Unknown {
  name: string;
  text: string;
  what: string;
  a: number | null;
  b: number | null;
}

/** What nobody knows is within no limit. */
function unknown({ name, text, what, a, b }: Unknown): Verdict {
  const whose = a === null && b === null ? 'both runs' : a === null ? 'run A' : 'run B';
  const message = `the ${what} of ${whose} is unknown, so it cannot be said to be within ${text}`;
  return { name, limit: text, ok: false, message };
}

function signed(percent: number): string {
  return `${percent > 0 ? '+' : ''}${Number(percent.toFixed(1))}`;
}
