// `completion`: a script for bash, and for zsh through its bash layer.

import { ALL_OPTIONS, COMMAND_NAMES } from './commands.ts';

/** The script's text; it completes commands, options, the words of choice options and file names. */
export function completionScript(): string {
  const options = Object.keys(ALL_OPTIONS).map((name) => `--${name}`);
  const choices = Object.entries(ALL_OPTIONS).flatMap(([name, { choices: words }]) =>
    words ? [`    --${name}) COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$word")); return ;;`] : [],
  );
  return `# agent-run completion: add this line to ~/.bashrc or ~/.zshrc
#   eval "$(agent-run completion)"
if [ -n "\${ZSH_VERSION-}" ]; then autoload -U +X bashcompinit && bashcompinit; fi
_agent_run() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  case "$before" in
${choices.join('\n')}
  esac
  case "$word" in
    -*) words="${options.join(' ')} --help --version" ;;
    *) if [ "$COMP_CWORD" -eq 1 ]; then words="${COMMAND_NAMES.join(' ')}"; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}
complete -o filenames -F _agent_run agent-run
`;
}
