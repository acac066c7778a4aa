import type { Env } from './place.ts';

export const CHECK_STATES = ['ok', 'warn', 'fail', 'skip'] as const;

/** One thing that was looked at: `warn` costs a run something, `fail` makes it impossible, `skip` was not looked at. */
export interface Check {
  name: string;
  state: (typeof CHECK_STATES)[number];
  /** What was found. */
  text: string;
  /** What to do about it. */
  mend?: string;
}

export interface DoctorRequest {
  env: Env;
  cwd: string;
  /** Absolute. */
  workspace: string;
  /** Absolute path given with `--out`. */
  out?: string;
  /** `--untrusted` was given. */
  untrusted: boolean;
  /** Asks no network. */
  offline: boolean;
}
