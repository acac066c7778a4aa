import type { Tool } from '../core/ports.ts';
import { type ProcessParts, runProcess } from './bash.ts';

const DEFINITION = {
  name: 'git',
  description:
    'Runs git with the given arguments and no shell, such as ["log", "--oneline", "-5"]. The task says which sub-commands are allowed.',
  input_schema: {
    type: 'object',
    properties: { args: { type: 'array', items: { type: 'string' } } },
    required: ['args'],
    additionalProperties: false,
  },
};

/** The repository's own configuration must not choose a program; the environment says the same, and either is enough. */
const CONFIG = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'log.showSignature=false',
  'protocol.ext.allow=never',
  'safe.bareRepository=explicit',
];
const NO_HELPERS = ['--no-ext-diff', '--no-textconv'];
const HARDENED = new Map<string, readonly string[]>([
  ['log', NO_HELPERS],
  ['diff', NO_HELPERS],
  ['show', NO_HELPERS],
  ['blame', ['--no-textconv']],
]);

/** Runs git sub-commands from the policy's argument list, with helpers and pager off. */
export function createGit(parts: ProcessParts): Tool {
  return {
    definition: DEFINITION,
    async execute(_call, plan, context) {
      if (plan.kind !== 'argv') throw new Error(`git cannot run a plan of kind ${plan.kind}`);
      return runProcess(gitArgv(plan.argv), parts, context);
    },
  };
}

/** The whole argument list for `["git", subcommand, ...]`. */
export function gitArgv([program = 'git', subcommand = '', ...rest]: readonly string[]): string[] {
  const config = CONFIG.flatMap((entry) => ['-c', entry]);
  return [
    program,
    '--no-pager',
    '--no-optional-locks',
    ...config,
    subcommand,
    ...(HARDENED.get(subcommand) ?? []),
    ...rest,
  ];
}
