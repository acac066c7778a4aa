import type { RedirectDescriptor, Redirection, Redirect, HereDoc, HereString } from 'unbash';
import type { PathJudge } from './judgement.ts';
import { judgeWord, quote } from './words.ts';

/** A redirect of the new script; a body follows at the end of its line. */
export interface JudgedRedirect {
  readonly emit: string;
  readonly body?: string;
  readonly writes: boolean;
}

/** What the judgement of redirects needs: the caller's file rules, every folder it may happen in, fresh delimiters. */
export interface RedirectPlace {
  readonly paths: PathJudge;
  readonly cwds: readonly string[];
  readonly delimiter: () => string;
}

type Judged = JudgedRedirect | { readonly refused: string };

/** Judges a redirect as the read or write tool would judge its target. */
export async function judgeRedirect(redirect: Redirection, place: RedirectPlace): Promise<Judged> {
  const descriptor = readDescriptor(redirect.descriptor);
  if (typeof descriptor !== 'string') return descriptor;
  switch (redirect.type) {
    case 'HereDoc':
      return judgeHereDoc(redirect, descriptor, place);
    case 'HereString':
      return judgeHereString(redirect, descriptor, place);
    case 'Redirect':
      return judgeFile(redirect, descriptor, place);
    default:
      return { refused: `a redirect that is not known: ${(redirect as { readonly type: string }).type}` };
  }
}

function readDescriptor(descriptor: RedirectDescriptor | undefined): string | { readonly refused: string } {
  if (descriptor === undefined) return '';
  if (descriptor.type !== 'FileDescriptor') return { refused: 'a redirect to a named descriptor' };
  return descriptor.value >= 0 && descriptor.value <= 9
    ? String(descriptor.value)
    : { refused: 'a descriptor above 9' };
}

function judgeHereDoc(redirect: HereDoc, descriptor: string, place: RedirectPlace): Judged {
  if (redirect.delimiter === undefined || redirect.closing === undefined)
    return { refused: 'a here-document without its end' };
  // A body without anything to expand is the same text in both forms.
  if (!redirect.delimiter.quoted && (redirect.body.parts !== undefined || /[$`\\]/.test(redirect.body.text))) {
    return { refused: `an expanding here-document; quote the delimiter: <<'${redirect.delimiter.value}'` };
  }
  const text = redirect.operator === '<<-' ? redirect.body.text.replace(/^\t+/gm, '') : redirect.body.text;
  return hereDocument(text, descriptor, place);
}

function judgeHereString(redirect: HereString, descriptor: string, place: RedirectPlace): Judged {
  if (redirect.target === undefined) return { refused: 'a here-string without text' };
  const word = judgeWord(redirect.target);
  if ('refused' in word) return word;
  if (word.kind === 'status') return { refused: 'a here-string that is not literal' };
  // A here-string is not subject to globs, so a star in it is text.
  return hereDocument(`${word.text}\n`, descriptor, place);
}

function hereDocument(text: string, descriptor: string, place: RedirectPlace): Judged {
  const delimiter = place.delimiter();
  if (text.includes(delimiter)) return { refused: 'a here-document that holds its own delimiter' };
  return { emit: `${descriptor}<<${quote(delimiter)}`, body: `${text}${delimiter}\n`, writes: false };
}

async function judgeFile(redirect: Redirect, descriptor: string, place: RedirectPlace): Promise<Judged> {
  if (redirect.target === undefined) return { refused: 'a redirect without a target' };
  const word = judgeWord(redirect.target);
  if ('refused' in word) return { refused: `a redirect to ${word.refused}` };
  if (word.kind !== 'literal' || word.text === '')
    return { refused: `a redirect to ${redirect.target.text}: the target must be literal` };
  const { operator } = redirect;
  if (operator === '>&' || operator === '<&') {
    if (/^\d$|^-$/.test(word.text)) return { emit: `${descriptor}${operator}${word.text}`, writes: false };
    if (operator === '<&' || descriptor !== '' || /^\d+-?$|^-/.test(word.text))
      return { refused: `a descriptor that is not understood: ${redirect.target.text}` };
  }
  const standard = /^\/dev\/std(out|err)$/.exec(word.text)?.[1];
  if (standard !== undefined && (operator === '>' || operator === '>>')) {
    // The same descriptor, without opening what it stands for.
    return { emit: `${descriptor}>&${standard === 'out' ? 1 : 2}`, writes: false };
  }
  const both = operator === '&>' || operator === '&>>' || operator === '>&';
  if (both && descriptor !== '') return { refused: `${descriptor}${operator} is not understood` };
  const reason = await judgeTarget(word.text, operator, place);
  if (reason !== undefined) return { refused: reason };
  const sign = both ? (operator === '&>>' ? '>>' : '>') : operator;
  const target = quote(safePath(word.text));
  return {
    emit: `${descriptor}${sign}${target}${both ? ' 2>&1' : ''}`,
    writes: operator !== '<' && word.text !== '/dev/null',
  };
}

// dash would read `> 1`, written without a space, as it should; a leading dash is only for the reader's eye.
function safePath(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}

async function judgeTarget(path: string, operator: string, place: RedirectPlace): Promise<string | undefined> {
  if (path === '/dev/null') return undefined;
  if (/^\/dev\/(?:tcp|udp)\//.test(path)) return `${path} is a network connection`;
  const reads = operator === '<' || operator === '<>';
  const writes = operator !== '<';
  for (const cwd of place.cwds) {
    const verdicts = [
      reads ? await place.paths.read(path, cwd) : undefined,
      writes ? await place.paths.write(path, cwd) : undefined,
    ];
    const bad = verdicts.find((verdict) => verdict?.ok === false);
    if (bad !== undefined && !bad.ok) return `a redirect to ${path}: ${bad.reason}`;
  }
  return undefined;
}
