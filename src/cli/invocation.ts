// What a command line asks for.

import type { RawFlags } from '../config/options.ts';
import type { CommandName } from './commands.ts';

/** Options by name, as they were typed. */
export type Flags = RawFlags & Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface Invocation {
  command: CommandName;
  positionals: string[];
  flags: Flags;
  /** What stands behind `--`, for the command that takes a command. */
  rest?: readonly string[];
}

/** What was asked, or the text (help, version, completion) that answers it. */
export type Parsed = { kind: 'invocation'; invocation: Invocation } | { kind: 'text'; text: string };
