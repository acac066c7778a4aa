import type { DoubleQuotedChild, Word, WordPart } from 'unbash';
import type { Arg } from './judgement.ts';

/** A word that may stand in the new script: its value, and how it is written there. */
export interface JudgedWord extends Arg {
  readonly emit: string;
}

/** The text in single quotes, as any POSIX shell reads it back. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

interface Piece {
  readonly text: string;
  readonly form: 'quoted' | 'bare' | 'glob' | 'status';
}

type Reading = readonly Piece[] | { readonly refused: string };

const GLOB_SAFE = /^[\w.,:@%+=/-]*$/;

/** Reads a word of the tree: literal after quote removal, or with `$?`, `$#` or a glob; anything else is refused. */
export function judgeWord(word: Word): JudgedWord | { readonly refused: string } {
  const parts = word.parts;
  const pieces = parts === undefined ? [bare(word.text, word.value)] : readParts(parts);
  if ('refused' in pieces) return pieces;
  const bareText = pieces
    .map((piece) => (piece.form === 'bare' || piece.form === 'glob' ? piece.text : '\u0000'))
    .join('');
  if (word.text.startsWith('~')) return { refused: `${word.text}: a tilde names a home folder` };
  if (hasBraces(bareText)) return { refused: `${word.text}: brace expansion; quote it if it is text` };
  const text = pieces.map((piece) => (piece.form === 'status' ? '0' : piece.text)).join('');
  const bad = controlCharacter(text);
  if (bad !== undefined) return { refused: bad };
  const isGlob = pieces.some((piece) => piece.form === 'glob');
  if (!isGlob)
    return {
      text,
      kind: pieces.some((piece) => piece.form === 'status') ? 'status' : 'literal',
      emit: emitPlain(pieces),
    };
  const first = pieces.find((piece) => piece.text !== '');
  return { text, kind: first?.form === 'glob' ? 'leading_glob' : 'glob', emit: pieces.map(emitGlobPiece).join('') };
}

/** Wider than what bash expands: a comma or two dots between braces; a refused honest word can be quoted. */
function hasBraces(text: string): boolean {
  let depth = 0;
  let separated = false;
  for (let place = 0; place < text.length; place += 1) {
    const character = text[place];
    if (character === '{') depth += 1;
    else if (depth > 0 && (character === ',' || text.startsWith('..', place))) separated = true;
    else if (character === '}' && depth > 0) {
      if (separated) return true;
      depth -= 1;
    }
  }
  return false;
}

function bare(source: string, value: string): Piece {
  // A backslash was removed here, so the text must not be read as a brace or a glob again.
  return { text: value, form: source === value ? 'bare' : 'quoted' };
}

function readParts(parts: readonly WordPart[]): Reading {
  const pieces: Piece[] = [];
  for (const part of parts) {
    const read = readPart(part);
    if ('refused' in read) return read;
    pieces.push(...read);
  }
  return pieces;
}

function readPart(part: WordPart): Reading {
  switch (part.type) {
    case 'Literal':
      return [bare(part.text, part.value)];
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ text: part.value, form: 'quoted' }];
    case 'DoubleQuoted':
      return readQuoted(part.parts);
    case 'SimpleExpansion':
      return status(part.text);
    case 'Glob':
      return part.kind === 'bracket' && part.parts.some((inner) => inner.type !== 'Literal')
        ? { refused: `${part.text}: quotes inside a bracket pattern` }
        : [{ text: part.text, form: 'glob' }];
    case 'ParameterExpansion':
    case 'LocaleString':
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      return { refused: `${part.text}: ${REFUSED[part.type]}` };
    default:
      return { refused: `a part of a word that is not known: ${(part as { readonly type: string }).type}` };
  }
}

const REFUSED = {
  ParameterExpansion: 'only the variables $? and $# may be used; write the value out',
  LocaleString: 'a translated string; use plain double quotes',
  CommandExpansion: 'command substitution; run the command on its own and use its output',
  ArithmeticExpansion: 'arithmetic; write the number out',
  ProcessSubstitution: 'process substitution; use a pipe or a file',
  ExtendedGlob: 'an extended glob; name the files',
  BraceExpansion: 'brace expansion; write the words out',
} as const;

function readQuoted(parts: readonly DoubleQuotedChild[]): Reading {
  const read = readParts(parts);
  if ('refused' in read) return read;
  return read.map((piece) => (piece.form === 'bare' ? { text: piece.text, form: 'quoted' } : piece));
}

function status(text: string): Reading {
  if (text === '$?' || text === '$#') return [{ text, form: 'status' }];
  return { refused: `${text}: ${REFUSED.ParameterExpansion}` };
}

/** Decoded quotes can hold what the text itself did not: `$'\r'` is refused like a carriage return. */
function controlCharacter(text: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- a control character is exactly what is looked for
  const found = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffd]/.exec(text)?.[0];
  return found === undefined
    ? undefined
    : `a quoted control character (U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')})`;
}

function emitPlain(pieces: readonly Piece[]): string {
  const written: string[] = [];
  let text = '';
  for (const piece of pieces) {
    if (piece.form !== 'status') {
      text += piece.text;
      continue;
    }
    if (text !== '') written.push(quote(text));
    text = '';
    written.push(`"${piece.text}"`);
  }
  return text !== '' || written.length === 0 ? [...written, quote(text)].join('') : written.join('');
}

function emitGlobPiece(piece: Piece): string {
  if (piece.form === 'status') return `"${piece.text}"`;
  if (piece.text === '') return '';
  // bash and dash differ on `[^`; both know `[!`.
  if (piece.form === 'glob') return piece.text.replace(/^\[\^/, '[!');
  return piece.form === 'bare' && GLOB_SAFE.test(piece.text) ? piece.text : quote(piece.text);
}
