// Text of others on its way to a log, a summary or a CI system: readable, and unable to act.

/** What no reader sees or what moves text about: controls, format characters (bidi, zero width, tags), fillers, lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f|\u17b4|\u17b5|[\u{e0100}-\u{e01ef}]/gu;
/** `##[error]` and its cousins (`##vso[`) are found by CI systems anywhere in a line. */
const MID_LINE_COMMAND = /##([A-Za-z]*)\[/g;

/** Text with what is unseen written as an escape; tabs stay, and line breaks too unless `one_line`. */
export function showControls(text: string, one_line = false): string {
  return text.replaceAll(UNSEEN, (character) => {
    if (character === '\t' || (character === '\n' && !one_line)) return character;
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** Text in which no CI system finds a command behind the beginning of a line. */
export function breakCommands(text: string): string {
  return text.replaceAll(MID_LINE_COMMAND, String.raw`##$1\[`);
}

/** One line that cannot be a workflow command nor move a terminal's cursor; a line break in it becomes an escape. */
export function logLine(text: string): string {
  const shown = breakCommands(showControls(text, true));
  return shown.replace(/^(\s*)::/, String.raw`$1\::`);
}

/** The lines of a text, split wherever a CI system ends one (LF, CR, CRLF), each made safe; the caller puts a prefix before each. */
export function logLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map(logLine);
}

/** JSON text of the same value in which no CI system finds a command, wherever its lines are broken. */
export function jsonForCi(json: string): string {
  // Both sequences can only stand inside strings, and neither begins inside an escape.
  return json
    .replaceAll(MID_LINE_COMMAND, String.raw`##$1\u005b`)
    .replaceAll('::', String.raw`:\u003a`)
    .replaceAll(/[\u0085\u2028\u2029]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value as one line of JSON for a stream that CI systems read, well-formed. */
export function jsonLine(value: unknown): string {
  const json = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item));
  return jsonForCi(json);
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Breaks up what GitHub turns into links by itself; nobody sees it. */
const APART = '&#8203;';

/** Text inside Markdown that stays text: no markup, HTML, image, link or mention. Line breaks become `<br>`, so it fits a table cell. */
export function markdownText(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => showControls(line.trim(), true));
  return lines.map(escapeMarkdown).join('<br>');
}

function escapeMarkdown(line: string): string {
  return line
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replaceAll(/[\\`*_{}[\]()#+\-!|~$=]/g, String.raw`\$&`)
    .replaceAll(/^(\d+)\./g, String.raw`$1\.`)
    .replaceAll(/#(?=\d)/g, `#${APART}`)
    .replaceAll(/@(?=\w)/g, `@${APART}`)
    .replaceAll(/\b(GH)(\\-)(?=\d)/gi, `$1$2${APART}`)
    .replaceAll(/:(?=\/\/)/g, `:${APART}`)
    .replaceAll(/\b(www|mailto|xmpp)(?=[.:])/gi, `$1${APART}`);
}

const PRE = { start: '<pre>', end: '</pre>' };

/**
 * A block that shows a text as it is: fenced, with a fence that no text inside can close, and a `language` if it is a
 * plain word. Markup and images are escaped on top, for readers that take the page apart in another way than GitHub.
 */
export function markdownCode(text: string, language = ''): string {
  const shown = showControls(text.replaceAll(/\r\n|\r/g, '\n'));
  if (/<[a-z!/?]|!\[/i.test(shown)) return escapedBlock(shown);
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  const word = /^[\w+-]{0,20}$/.test(language) ? language : '';
  return `${fence}${word}\n${shown}${shown.endsWith('\n') || shown === '' ? '' : '\n'}${fence}`;
}

function escapedBlock(text: string): string {
  const escaped = text.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character).replaceAll('![', '!&#91;');
  return `${PRE.start}\n${escaped}${escaped.endsWith('\n') ? '' : '\n'}${PRE.end}`;
}

/** The same on one line, for a name or a path. */
export function markdownInlineCode(text: string): string {
  const shown = showControls(text, true).replaceAll('|', String.raw`\|`);
  const ticks = '`'.repeat(longestRun(shown) + 1);
  return shown.trim() === '' ? '' : `${ticks} ${shown} ${ticks}`.replace(/^` ([^`\s].*[^`\s]|[^`\s]) `$/s, '`$1`');
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Markdown cut at a line break to at most `max` (bytes of UTF-8, unless `sizeOf` counts something else), with an open block closed and a note at the end. */
export function markdownCut(markdown: string, max: number, note: string, sizeOf = bytesOf): string {
  if (sizeOf(markdown) <= max) return markdown;
  const lines = markdown.split('\n');
  let room = max - sizeOf(`\n\n${note}\n`);
  let open = '';
  const kept: string[] = [];
  for (const line of lines) {
    const after = openAfter(open, line);
    room -= sizeOf(line) + 1;
    if (room - after.length - 1 < 0) break;
    open = after;
    kept.push(line);
  }
  return [...kept, ...(open === '' ? [] : [open]), '', note, ''].join('\n');
}

/** What closes the block that is open behind a line; '' when none is. */
function openAfter(open: string, line: string): string {
  if (open === PRE.end) return line === PRE.end ? '' : open;
  if (open === '' && line === PRE.start) return PRE.end;
  const [, ticks, info = ''] = /^ {0,3}(`{3,})([^`]*)$/.exec(line) ?? [];
  if (ticks === undefined) return open;
  if (open === '') return ticks;
  return ticks.length >= open.length && info.trim() === '' ? '' : open;
}
