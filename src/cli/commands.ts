// The command line as data: what help lists, what the parser knows, what this version does not do yet.

import { BATCH_OPTIONS, OPTIONS, type OptionSpec } from '../config/options.ts';
import { REPORT_FORMATS } from '../reports/formats.ts';

export interface CommandSpec {
  /** Positional arguments as help shows them. */
  takes: string;
  describe: string;
  /** The options the command knows besides --help. */
  options: readonly string[];
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

const REPORT_OPTIONS: Record<string, OptionSpec> = {
  merge: { kind: 'switch', describe: 'search the folders for run folders, as collected artifacts of shards hold them' },
  'exit-code': { kind: 'switch', describe: 'end with the worst code of the runs' },
};

const ABOVE = 'at most this much above that of RUN_A';
const DIFF_OPTIONS: Record<string, OptionSpec> = {
  'max-cost-increase': { kind: 'text', value: 'N%|USD', describe: `cost: ${ABOVE}` },
  'max-tokens-increase': { kind: 'text', value: 'N%|N', describe: `tokens in and out: ${ABOVE}` },
  'max-turns-increase': { kind: 'text', value: 'N%|N', describe: `turns: ${ABOVE}` },
  'max-tool-calls-increase': { kind: 'text', value: 'N%|N', describe: `tool calls: ${ABOVE}` },
  'max-duration-increase': { kind: 'text', value: 'N%|D', describe: `time: ${ABOVE}` },
  'max-new-findings': { kind: 'text', value: 'N', describe: 'most findings that only RUN_B has' },
  'max-new-denials': { kind: 'text', value: 'N', describe: 'most denied calls above those of RUN_A' },
};

/** What a shared option means to one command. */
export const OWN_OPTIONS: Partial<Record<CommandName, Record<string, OptionSpec>>> = {
  report: {
    format: { kind: 'choice', choices: REPORT_FORMATS, describe: 'form of the report (default: markdown)' },
    out: { kind: 'text', value: 'FILE', describe: 'write to this file instead of stdout' },
  },
  diff: { format: { kind: 'choice', choices: ['text', 'json'], describe: 'what stdout carries (default: text)' } },
};

export const ALL_OPTIONS: Record<string, OptionSpec> = {
  ...OPTIONS,
  ...BATCH_OPTIONS,
  ...RESUME_OPTIONS,
  ...REPLAY_OPTIONS,
  ...DOCTOR_OPTIONS,
  ...REPORT_OPTIONS,
  ...DIFF_OPTIONS,
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
  },
  validate: {
    takes: '[task..]',
    describe: 'check task, schemas and policy, call no model; print the plan and the worst-case cost',
    options: FOR_VALIDATE,
  },
  explain: {
    takes: '[task]',
    describe: 'say whether a shell command would be allowed: explain TASK -- COMMAND',
    options: FOR_EXPLAIN,
  },
  replay: {
    takes: '[run_dir]',
    describe: 'run again from a transcript, without network and key; 9 when it differs',
    options: FOR_REPLAY,
  },
  resume: {
    takes: '[run_dir]',
    describe: 'go on after a crash, a cancel or a limit, or ask a follow-up',
    options: FOR_RESUME,
  },
  report: {
    takes: '[run_dir..]',
    describe: 'show runs as a page, JUnit, SARIF, Markdown or JSON; with --merge those of many folders',
    options: ['format', 'out', ...Object.keys(REPORT_OPTIONS)],
  },
  diff: {
    takes: '[run_a] [run_b]',
    describe: 'compare two runs; 9 when the second is over a threshold',
    options: ['format', ...Object.keys(DIFF_OPTIONS)],
  },
  init: {
    takes: '[dir]',
    describe: 'write a task, an output schema and a workflow to start from',
    options: [],
  },
  schema: { takes: '[name]', describe: 'print a JSON Schema, or the names of all', options: [] },
  completion: {
    takes: '[shell]',
    describe: 'print a script that completes words in bash and zsh (default), or in fish',
    options: [],
  },
  doctor: {
    takes: '',
    describe: 'check what this machine offers: Node, git, sandbox, key, service, folders',
    options: FOR_DOCTOR,
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[]; // keys of the record above, nothing else

export function isCommand(word: string | undefined): word is CommandName {
  return word !== undefined && Object.hasOwn(COMMANDS, word);
}
