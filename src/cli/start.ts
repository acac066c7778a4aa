// The front door: the only place that catches what nobody expected, and the only one that ends the process.

import process from 'node:process';
import { COMMAND_NAMES, type CommandName } from './commands.ts';
import { parseCommandLine } from './arguments.ts';
import { passSignals } from './early-signals.ts';
import type { Invocation } from './invocation.ts';
import { reportFailure } from './failure.ts';
import { openOutput } from './streams.ts';
import type { World } from './world.ts';

/** Does what the arguments ask and ends the process with the code of the outcome. */
export async function start(argv: readonly string[]): Promise<never> {
  const world: World = {
    env: process.env,
    cwd: process.cwd(),
    stdout: openOutput(process.stdout),
    stderr: openOutput(process.stderr),
    stdin: process.stdin,
  };
  const code = await frontDoor(argv, world);
  const written = await world.stdout.flush();
  await world.stderr.flush();
  // Commands that print more than this one line look after it themselves.
  return process.exit(written || code !== 0 ? code : 1);
}

async function frontDoor(argv: readonly string[], world: World): Promise<number> {
  try {
    const parsed = await parseCommandLine(argv);
    if (parsed.kind === 'invocation') return await dispatch(parsed.invocation, world);
    world.stdout.write(parsed.text);
    return 0;
  } catch (error) {
    // Whatever was not expected ends here: a mistake of the caller or a bug.
    const code = await reportFailure(error, { argv, world });
    return code;
  }
}

async function dispatch(invocation: Invocation, world: World): Promise<number> {
  const { command } = invocation;
  if (command !== 'run' && command !== 'resume') passSignals();
  const load = CODE[command];
  if (load) return (await load())(invocation, world);
  world.stdout.write(await textOf(invocation, world));
  return 0;
}

type CommandCode = (invocation: Invocation, world: World) => Promise<number>;

/** Each is loaded only by its own command. */
const CODE: Partial<Record<CommandName, () => Promise<CommandCode>>> = {
  run: async () => (await import('./run-command.ts')).runCommand,
  validate: async () => (await import('./validate-command.ts')).validateCommand,
  resume: async () => (await import('./run-command.ts')).resumeCommand,
  replay: async () => (await import('./replay-command.ts')).replayCommand,
  explain: async () => (await import('./explain-command.ts')).explainCommand,
  report: async () => (await import('./report-command.ts')).reportCommand,
  diff: async () => (await import('./diff-command.ts')).diffCommand,
  doctor: async () => (await import('./doctor-command.ts')).doctorCommand,
};

/** Commands that only print a text. */
async function textOf({ command, positionals }: Invocation, { cwd }: World): Promise<string> {
  switch (command) {
    case 'init': {
      const { initFolder } = await import('./init.ts');
      return initFolder(cwd, positionals[0]);
    }
    case 'schema': {
      const { schemaText } = await import('./schemas.ts');
      return schemaText(positionals[0]);
    }
    case 'completion': {
      const { completionScript } = await import('./completion.ts');
      return completionScript(positionals[0]);
    }
    default:
      // The parser refuses what is no command; whoever adds one gives it code here or above.
      throw new Error(`the command "${command}" has no code; known are ${COMMAND_NAMES.join(', ')}`);
  }
}
