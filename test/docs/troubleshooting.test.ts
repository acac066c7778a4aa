// Every message for people has its entry on the page: the literals of the source are looked up in it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readText, ROOT } from '../helpers/pages.ts';

const TEXT = String.raw`(\`(?:[^\`\\]|\\.)*\`|'(?:[^'\\]|\\.)*')`;
const THROWN = new RegExp(String.raw`new (?:UsageError|IoError)\(\s*${TEXT}`, 'g');
const ISSUE = new RegExp(String.raw`message(?::| =)\s*${TEXT}`, 'g');
const GAP = '\u0001';

/** A literal with its values taken out: `found ${x}` is "found …". */
function shape(literal: string): string {
  let depth = 0;
  let text = '';
  const inner = literal.slice(1, -1);
  for (let at = 0; at < inner.length; at += 1) {
    if (depth === 0 && inner.startsWith('${', at)) text += GAP;
    if (inner.startsWith('${', at)) depth += 1;
    else if (depth > 0 && inner[at] === '}') depth -= 1;
    else if (depth === 0) text += inner[at];
    if (inner.startsWith('${', at)) at += 1;
  }
  return text;
}

function messages(): { at: string; text: string }[] {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return files.flatMap((path) => {
    const source = readFileSync(join(ROOT, 'src', path), 'utf8');
    const found = [...source.matchAll(THROWN), ...(path.startsWith('config') ? source.matchAll(ISSUE) : [])];
    return (
      found
        .map((match) => ({ at: `src/${path}`, text: shape(match[1] ?? '') }))
        // What is made of values alone is worded, and listed, where the values come from.
        .filter(({ text }) => /[a-z]{3}/.test(text.replace(`found ${GAP}, ${GAP}`, '')))
    );
  });
}

/** The entry's words in order; a gap stands for anything. */
function pattern(entry: string): RegExp {
  const words = entry.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(words.join('[^]*'));
}

const entries = [...readText('docs/troubleshooting.md').matchAll(/^\| `(.+?)` \|/gm)].map((match) => match[1] ?? '');

test('every message of the source has an entry', () => {
  const patterns = entries.map(pattern);
  const all = messages();
  expect(all.length).toBeGreaterThan(100);
  const missing = all.filter(({ text }) => !patterns.some((entry) => entry.test(text)));
  expect(missing.map(({ at, text }) => `${at}: ${text.replaceAll(GAP, '…')}`)).toEqual([]);
});

test('every entry is a message that the source has', () => {
  const all = messages().map(({ text }) => text);
  const unused = entries.filter((entry) => !all.some((text) => pattern(entry).test(text)));
  expect(unused).toEqual([]);
});
