// The whole command line by yargs: commands, help, version, completion.

import yargs, { type Argv, type Options } from 'yargs';
import manifest from '../../package.json' with { type: 'json' };
import type { OptionSpec } from '../config/options.ts';
import { UsageError } from '../core/errors.ts';
import type { Flags, Parsed } from './invocation.ts';
import { ALL_OPTIONS, COMMAND_NAMES, type CommandName, COMMANDS, OWN_OPTIONS } from './commands.ts';

// Values stay the texts that were typed; config/options.ts reads and judges them for flags and variables alike.
const CONFIGURATION = {
  'camel-case-expansion': false,
  'dot-notation': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'boolean-negation': false,
  'short-option-groups': false,
  'greedy-arrays': false,
  'strip-aliased': true,
};

// yargs takes a lone "-" for an option without a name; no argument can hold a NUL.
const DASH = '\0';

const EPILOGUE = `TASK is a JSON or YAML file, or - for JSON on standard input. Every option is also read from
AGENT_RUN_<OPTION>; a flag wins, for limits the tightest. The result goes to stdout, progress to stderr.
Exit codes: 0 success, 1 bug or machine, 2 usage, 3 no valid output, 4 limit, 5 policy, 6 model service,
7 refusal, 8 verify, 9 gate.`;

/** What was asked, or the text that answers it; throws UsageError for what cannot be understood. */
export async function parseWithYargs(argv: readonly string[]): Promise<Parsed> {
  let parsed: Parsed | undefined;
  const take = (command: CommandName, values: Record<string, unknown>): void => {
    // What stands behind "--" ends up here and must not be lost in silence.
    const [extra] = [values['_']].flat().filter((word) => word !== command);
    if (extra !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(extra)}`);
    parsed = {
      kind: 'invocation',
      invocation: { command, positionals: positionalsOf(values), flags: flagsOf(values) },
    };
  };
  const parser = buildParser(take);
  const text = await new Promise<string>((resolve, reject) => {
    const done = (error: unknown, _argv: unknown, output: string): void => {
      if (error instanceof Error) reject(error);
      else resolve(output);
    };
    Promise.resolve(
      parser.parse(
        argv.map((word) => (word === '-' ? DASH : word)),
        {},
        done,
      ),
    ).catch(reject);
  });
  if (text !== '') return { kind: 'text', text: `${text}\n` };
  return parsed ?? { kind: 'text', text: '' };
}

type Take = (command: CommandName, values: Record<string, unknown>) => void;

function buildParser(take: Take): Argv {
  const parser = yargs()
    .scriptName('agent-run')
    .locale('en')
    .parserConfiguration(CONFIGURATION)
    .usage('$0 TASK [options]\n\nRuns an AI agent task headless, with limits, a tool policy and a checked result.')
    .version(manifest.version)
    .help()
    .alias('help', 'h')
    .epilogue(EPILOGUE)
    .wrap(110)
    .exitProcess(false)
    .strict()
    .fail((message) => {
      throw new UsageError(message);
    });
  for (const name of COMMAND_NAMES) {
    const { takes, describe, options } = COMMANDS[name];
    parser.command({
      command: [name, takes].filter(Boolean).join(' '),
      describe,
      builder: (command: Argv) => addOptions(command, options, OWN_OPTIONS[name]),
      handler: (values) => take(name, values),
    });
  }
  return parser.command({
    command: '$0 [task..]',
    describe: 'run task files',
    builder: (command: Argv) => addOptions(command, COMMANDS.run.options),
    handler: (values) => take('run', values),
  });
}

function addOptions(parser: Argv, names: readonly string[], own: Record<string, OptionSpec> = {}): Argv {
  for (const [name, spec] of Object.entries({ ...ALL_OPTIONS, ...own }))
    if (names.includes(name)) parser.option(name, optionFor(spec));
  return parser;
}

function optionFor(spec: OptionSpec): Options {
  const { kind, describe, value, choices } = spec;
  if (kind === 'switch') return { type: 'boolean', describe };
  const shown = choices ? choices.join('|') : value;
  return { type: 'string', requiresArg: true, describe: shown ? `${describe} [${shown}]` : describe };
}

function positionalsOf(values: Record<string, unknown>): string[] {
  const words = ['task', 'run_dir', 'run_a', 'run_b', 'dir', 'name', 'shell'].flatMap((key) => values[key] ?? []);
  return words.filter((word) => typeof word === 'string').map((word) => (word === DASH ? '-' : word));
}

function flagsOf(values: Record<string, unknown>): Flags {
  const given = Object.keys(ALL_OPTIONS).filter((name) => values[name] !== undefined);
  const flags = Object.fromEntries(given.map((name) => [name, values[name] === DASH ? '-' : values[name]]));
  return flags as Flags; // options are declared as texts and switches above, and yargs yields those or lists of them
}
