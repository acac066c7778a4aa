// `completion [SHELL]`: a script for bash and zsh, or one for fish.

import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import type { OptionSpec } from '../config/options.ts';
import { ALL_OPTIONS, COMMAND_NAMES, type CommandName, COMMANDS, OWN_OPTIONS } from './commands.ts';
import { SCHEMA_NAMES } from './schemas.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Words that a command takes besides files. */
const WORDS: Partial<Record<CommandName, readonly string[]>> = { schema: SCHEMA_NAMES, completion: SHELLS };

/** The script's text; it completes commands, each command's own options, the words of choices, and file names. */
export function completionScript(shell = 'bash'): string {
  if (shell === 'fish') return fishScript();
  if (shell === 'bash' || shell === 'zsh') return bashScript();
  throw new UsageError(
    `found the shell ${JSON.stringify(shell)}, expected one of ${SHELLS.join(', ')}${didYouMean(shell, SHELLS)}`,
  );
}

function bashScript(): string {
  const commands = COMMAND_NAMES.map((name) => {
    const options = [...COMMANDS[name].options, 'help'].map((option) => `--${option}`).join(' ');
    return `    ${name}) options="${options}"; words="${(WORDS[name] ?? []).join(' ')}" ;;`;
  });
  const choices = choicesOf().map(
    ({ name, option, words }) => `    ${name}:--${option}) options=""; words="${words.join(' ')}" ;;`,
  );
  const names = COMMAND_NAMES.join(' ');
  return `# agent-run completion: add this line to ~/.bashrc or ~/.zshrc
#   eval "$(agent-run completion)"
if [ -n "\${ZSH_VERSION-}" ]; then autoload -U +X bashcompinit && bashcompinit; fi
_agent_run() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command=run words="" options=""
  # A first word that is no command is a task, and TASK alone is run TASK.
  case " ${names} " in *" \${COMP_WORDS[1]} "*) if [ "$COMP_CWORD" -gt 1 ]; then command="\${COMP_WORDS[1]}"; fi ;; esac
  case "$command" in
${commands.join('\n')}
  esac
  case "$command:$before" in
${choices.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${names}"; options="$options --version"; fi
  case "$word" in -*) words="$options" ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}
complete -o filenames -F _agent_run agent-run
`;
}

function fishScript(): string {
  const commands = COMMAND_NAMES.map(
    (name) => `complete -c agent-run -n __fish_use_subcommand -a ${name} -d ${quoted(COMMANDS[name].describe)}`,
  );
  const options = COMMAND_NAMES.flatMap((name) =>
    COMMANDS[name].options.map((option) => {
      const spec = specOf(name, option);
      const takes = spec?.choices ? ` -x -a ${quoted(spec.choices.join(' '))}` : spec?.kind === 'switch' ? '' : ' -r';
      const when =
        name === 'run'
          ? `'__fish_use_subcommand; or __fish_seen_subcommand_from run'`
          : `'__fish_seen_subcommand_from ${name}'`;
      return `complete -c agent-run -n ${when} -l ${option}${takes} -d ${quoted(spec?.describe ?? '')}`;
    }),
  );
  const words = Object.entries(WORDS).map(
    ([name, list]) => `complete -c agent-run -n '__fish_seen_subcommand_from ${name}' -x -a ${quoted(list.join(' '))}`,
  );
  return `# agent-run completion for fish: agent-run completion fish > ~/.config/fish/completions/agent-run.fish\n${[...commands, ...options, ...words].join('\n')}\n`;
}

/** The option as a command has it. */
function specOf(command: CommandName, option: string): OptionSpec | undefined {
  return OWN_OPTIONS[command]?.[option] ?? ALL_OPTIONS[option];
}

function choicesOf(): { name: CommandName; option: string; words: readonly string[] }[] {
  return COMMAND_NAMES.flatMap((name) =>
    COMMANDS[name].options.flatMap((option) => {
      const words = specOf(name, option)?.choices;
      return words ? [{ name, option, words }] : [];
    }),
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
