import all from '../cases.json' with { type: 'json' };
import own from '../own-cases.json' with { type: 'json' };

/** One step of a case's setup; each step has one of these keys, some with a second value beside it. */
export type Step = Readonly<Record<string, unknown>>;

export interface Check {
  readonly type: string;
  readonly path?: string;
  readonly text?: string;
  readonly ms?: number;
  readonly mb?: number;
  readonly bytes?: number;
  readonly marker?: string;
  readonly name?: string;
  readonly regex?: string;
  readonly keys?: readonly string[];
}

export interface SecurityCase {
  readonly id: string;
  readonly kind: string;
  readonly description: string;
  readonly policy: {
    readonly bash?: readonly string[];
    readonly deny?: readonly string[];
    readonly write?: readonly string[];
    readonly read?: readonly string[];
    readonly env?: readonly string[];
    readonly sandbox?: 'required' | 'off' | 'default';
    readonly gitWrite?: boolean;
    readonly timeoutMs?: number;
  };
  readonly setup?: readonly Step[];
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: 'allow' | 'deny' | 'contained';
  readonly check?: readonly Check[];
}

// JSON of the shape that the case file's conventions describe; the second file holds what the first made us think of.
export const CASES = all as unknown as readonly SecurityCase[];
const OWN = own as unknown as readonly SecurityCase[];

/** The handed cases of some kinds, in the order of their file. */
export function casesOf(...kinds: readonly string[]): SecurityCase[] {
  return CASES.filter(({ kind }) => kinds.includes(kind));
}

/** Our own cases of some kinds. */
export function ownCasesOf(...kinds: readonly string[]): SecurityCase[] {
  return OWN.filter(({ kind }) => kinds.includes(kind));
}

/** Cases as rows for `test.each`: a name, then the case. */
export function named(cases: readonly SecurityCase[]): [name: string, one: SecurityCase][] {
  return cases.map((one) => [`${one.id} ${one.expected}: ${one.description}`, one]);
}
