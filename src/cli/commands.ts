// The command line as data: what help lists, what the parser knows, what this version does not do yet.

import { OPTIONS, type OptionSpec } from '../config/options.ts';

export interface CommandSpec {
  /** Positional arguments as help shows them. */
  takes: string;
  describe: string;
  /** Which options the command knows besides --help. */
  options: 'run' | 'none';
  available: boolean;
}

export const COMMANDS = {
  run: {
    takes: '[task..]',
    describe: 'run task files (run TASK is the same as TASK alone)',
    options: 'run',
    available: true,
  },
  validate: {
    takes: '[task..]',
    describe: 'check task, schemas and policy, call no model; print the plan and the worst-case cost',
    options: 'run',
    available: true,
  },
  explain: {
    takes: '<task>',
    describe: 'say whether a shell command would be allowed',
    options: 'none',
    available: false,
  },
  replay: {
    takes: '<run_dir>',
    describe: 'run again from a transcript, without network',
    options: 'none',
    available: false,
  },
  resume: {
    takes: '<run_dir>',
    describe: 'go on after a crash, a cancel or a limit',
    options: 'none',
    available: false,
  },
  report: { takes: '<run_dir..>', describe: 'render run folders', options: 'none', available: false },
  diff: { takes: '<run_a> <run_b>', describe: 'compare two runs', options: 'none', available: false },
  init: {
    takes: '[dir]',
    describe: 'write a task, an output schema and a workflow to start from',
    options: 'none',
    available: true,
  },
  schema: { takes: '[name]', describe: 'print a JSON Schema, or the names of all', options: 'none', available: true },
  completion: {
    takes: '',
    describe: 'print a script that completes words in bash and zsh',
    options: 'none',
    available: true,
  },
  doctor: { takes: '', describe: 'check what this machine offers', options: 'none', available: false },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[]; // keys of the record above, nothing else

/** Options of a batch: listed and known, so that none is taken for a misspelling. */
export const BATCH_OPTIONS: Record<string, OptionSpec> = {
  rows: {
    kind: 'text',
    value: 'FILE.jsonl',
    describe: 'one run for each line of inputs (not available in this version)',
  },
  workers: { kind: 'count', value: 'N', describe: 'runs at the same time (not available in this version)' },
  shard: { kind: 'text', value: 'I/N', describe: 'only this part of the runs (not available in this version)' },
  continue: { kind: 'switch', describe: 'skip what was already done (not available in this version)' },
  'fail-fast': { kind: 'switch', describe: 'stop at the first failure (not available in this version)' },
  'max-total-cost-usd': { kind: 'usd', value: 'N', describe: 'most USD of all runs (not available in this version)' },
};

export const ALL_OPTIONS: Record<string, OptionSpec> = { ...OPTIONS, ...BATCH_OPTIONS };

export function isCommand(word: string | undefined): word is CommandName {
  return word !== undefined && Object.hasOwn(COMMANDS, word);
}
