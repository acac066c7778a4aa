/** What the danger table says about one program; the words are those of `danger-table.json`. */
export interface ProgramEntry {
  /** Names that share this entry. */
  readonly names: readonly string[];
  /** A reason for the whole entry, shown with every finding. */
  readonly why?: string;
  readonly runs?: readonly string[];
  readonly writes?: readonly string[];
  readonly config?: readonly string[];
  readonly outside?: readonly string[];
  readonly sends?: readonly string[];
  /** Options whose value is a path that the file rules can accept. */
  readonly read_path?: readonly string[];
  readonly write_path?: readonly string[];
  /** Exact options that only look like an abbreviation of a dangerous one. */
  readonly safe?: readonly string[];
  readonly value_shorts?: string;
  readonly value_longs?: readonly string[];
  /** Long options start with one dash too and are never abbreviated or clustered (find, go, xxd). */
  readonly single_dash?: boolean;
  /** Long options may start with one dash as well, and clusters exist too (npm). */
  readonly any_dashes?: boolean;
  /** Operands must match this expression. */
  readonly operand_pattern?: string;
  /** Options end at the first operand, which is a program's own script. */
  readonly stop_at_operand?: boolean;
  /** Options known to take no value; behind any other one an operand may be its value, so options go on. */
  readonly flags?: readonly string[];
  /** Options with which the program runs no code at all, or only what its operands name. */
  readonly info?: readonly string[];
  /** No argument at all is admitted by a star. */
  readonly all?: boolean;
  /** The rule must name the first argument; the rest is free. */
  readonly named?: boolean;
  /** Values that make an option of `runs` harmless, such as the name of a built-in reporter. */
  readonly named_values?: { readonly options: readonly string[]; readonly pattern: string };
  /** Only arguments that match one of these expressions are admitted. */
  readonly only?: readonly string[];
  /** The command reads code from its input when it has no operand. */
  readonly bare?: string;
  /** One argument must match this expression, or the command does something else. */
  readonly needs?: string;
  readonly subcommands?: readonly string[];
  /** Sub-commands that run the list behind them, such as `exec` of `npm exec`. */
  readonly launcher_words?: readonly string[];
  /** A `--` between the wrapped program and its arguments may be dropped, so options behind it still count. */
  readonly strips_dashes?: boolean;
  /** The option whose value is a program of its own, such as `-m` of `python -m pytest`. */
  readonly module_option?: string;
  /** `read`: operands are files it prints; `guarded`: files it changes, so protected and outside ones need a rule. */
  readonly operands?: 'read' | 'guarded' | 'script' | 'write';
  /** Operands before this place are no paths (a pattern, a filter); a `pattern_options` option fills it instead. */
  readonly first_path?: number;
  readonly pattern_options?: readonly string[];
  /** Operands from this place on are written. */
  readonly write_from?: number;
  /** The program has no option that runs, writes or configures, so a leading glob is harmless. */
  readonly glob_safe?: boolean;
  readonly launcher?: LauncherEntry;
  /** A look of its own, in code. */
  readonly look?: 'git' | 'find' | 'sed' | 'jq' | 'awk' | 'shell' | 'test' | 'runner' | 'printf' | 'xargs';
  /** It runs other commands in a way that cannot be taken apart. */
  readonly opaque?: boolean;
}

/** How the wrapped list of a launcher is found; any other option is refused. */
export interface LauncherEntry {
  readonly flags?: readonly string[];
  readonly values?: readonly string[];
  /** Operands of its own before the wrapped program, such as the duration of `timeout`. */
  readonly skip?: number;
}
