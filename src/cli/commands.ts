// The command line as data: what help lists, what the parser knows, what this version does not do yet.

import { BATCH_OPTIONS, OPTIONS, type OptionSpec } from '../config/options.ts';

export interface CommandSpec {
  /** Positional arguments as help shows them. */
  takes: string;
  describe: string;
  /** The options the command knows besides --help. */
  options: readonly string[];
  available: boolean;
}

const RESUME_OPTIONS: Record<string, OptionSpec> = {
  prompt: { kind: 'text', value: 'TEXT', describe: 'a follow-up in the same conversation' },
  'allow-changed': { kind: 'switch', describe: 'go on although the workspace is at another commit' },
};

const REPLAY_OPTIONS: Record<string, OptionSpec> = {
  tools: {
    kind: 'choice',
    choices: ['recorded', 'live'],
    describe: 'results of calls as recorded, or judged and run again in the workspace',
  },
};

const DOCTOR_OPTIONS: Record<string, OptionSpec> = {
  offline: { kind: 'switch', describe: 'ask no network' },
};

export const ALL_OPTIONS: Record<string, OptionSpec> = {
  ...OPTIONS,
  ...BATCH_OPTIONS,
  ...RESUME_OPTIONS,
  ...REPLAY_OPTIONS,
  ...DOCTOR_OPTIONS,
};

const FOR_RUN = [...Object.keys(OPTIONS), ...Object.keys(BATCH_OPTIONS)];
const FOR_VALIDATE = Object.keys(OPTIONS);
const FOR_EXPLAIN = ['input', 'workspace', 'task-ref', 'format'];
const FOR_RESUME = [
  ...Object.keys(RESUME_OPTIONS),
  'max-turns',
  'max-cost-usd',
  'timeout',
  'format',
  'quiet',
  'verbose',
  'color',
];
const FOR_REPLAY = [...Object.keys(REPLAY_OPTIONS), 'workspace', 'format'];
const FOR_DOCTOR = [...Object.keys(DOCTOR_OPTIONS), 'workspace', 'out', 'untrusted', 'format'];

export const COMMANDS = {
  run: {
    takes: '[task..]',
    describe: 'run task files (run TASK is the same as TASK alone)',
    options: FOR_RUN,
    available: true,
  },
  validate: {
    takes: '[task..]',
    describe: 'check task, schemas and policy, call no model; print the plan and the worst-case cost',
    options: FOR_VALIDATE,
    available: true,
  },
  explain: {
    takes: '[task]',
    describe: 'say whether a shell command would be allowed: explain TASK -- COMMAND',
    options: FOR_EXPLAIN,
    available: true,
  },
  replay: {
    takes: '[run_dir]',
    describe: 'run again from a transcript, without network and key; 9 when it differs',
    options: FOR_REPLAY,
    available: true,
  },
  resume: {
    takes: '[run_dir]',
    describe: 'go on after a crash, a cancel or a limit, or ask a follow-up',
    options: FOR_RESUME,
    available: true,
  },
  report: { takes: '[run_dir..]', describe: 'render run folders', options: [], available: false },
  diff: { takes: '[run_a] [run_b]', describe: 'compare two runs', options: [], available: false },
  init: {
    takes: '[dir]',
    describe: 'write a task, an output schema and a workflow to start from',
    options: [],
    available: true,
  },
  schema: { takes: '[name]', describe: 'print a JSON Schema, or the names of all', options: [], available: true },
  completion: {
    takes: '',
    describe: 'print a script that completes words in bash and zsh',
    options: [],
    available: true,
  },
  doctor: {
    takes: '',
    describe: 'check what this machine offers: Node, git, sandbox, key, service, folders',
    options: FOR_DOCTOR,
    available: true,
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[]; // keys of the record above, nothing else

export function isCommand(word: string | undefined): word is CommandName {
  return word !== undefined && Object.hasOwn(COMMANDS, word);
}
