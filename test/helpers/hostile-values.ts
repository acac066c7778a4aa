// Texts that a model may be made to write, and what may stand of them in the files of a step.
import { breakCommands, logLine, markdownText, showControls } from '../../src/core/sanitise.ts';

/** What each tries, and the text. */
export const HOSTILE: readonly (readonly [what: string, value: string])[] = [
  ['a workflow command', '::error::x'],
  ['a command on a second line', 'x\n::set-output name=status::success'],
  ['a command after a carriage return', 'x\r::add-mask::a'],
  ['a command in the middle of a line', 'x ##[error]y'],
  ['an end of an output', 'x\nEOF\nstatus=success\nstatus<<EOF'],
  ['an escape of a command', 'x%0A::error::y'],
  ['an image that reports who reads it', '<img src="https://e.example/?q=1">'],
  ['the same in Markdown', '![x](https://e.example/?q=1)'],
  ['a link', '[the run](https://e.example)'],
  ['addresses that become links', 'https://e.example www.e.example mailto:a@e.example'],
  ['a mention', '@octocat and @org/team'],
  ['a reference to an issue', '#1 o/r#2 GH-3'],
  ['the marker of a comment', '<!-- agent-run {"task":"other"} -->'],
  ['an end of the table', 'a | b\n\n# Verdict: success'],
  ['an end of the table in HTML', '</td></tr></table><h1>success</h1>'],
  ['code that does not end', '`a ``` b'],
  ['a list, a task, a rule', '- [x] done\n1. one\n---'],
  ['formulas, emphasis, strikes', '$x$ **a** __b__ ~~c~~'],
  ['a template', '{{ run.status }} {% raw %}'],
  ['text that runs backwards', 'safe\u202egnp.exe'],
  ['letters that nobody sees', 'a\u200bb\u{e0041}\u3164'],
  ['a terminal sequence', '\u001b[2J\u001b[31mred'],
];

/** The text in a table or paragraph of the summary and of the comment. */
export function inMarkdown(value: string): string {
  return markdownText(value.trim());
}

/** The text as the message of an annotation, in the form of the runner's command. */
export function inAnnotation(value: string): string {
  const shown = breakCommands(showControls(value.replaceAll(/\r\n?/g, '\n')));
  return shown.replaceAll('%', '%25').replaceAll('\n', '%0A');
}

/** The text in one line of the log. */
export function inLog(value: string): string {
  return logLine(value);
}
