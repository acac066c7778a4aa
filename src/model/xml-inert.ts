// What a reader may pass over between the bracket and the name.
const GAP = String.raw`[\s/\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]*`;

/** Text from outside in which none of these tags opens or closes anything: `<` before their names is written `&lt;`, and so is one at the end, for more text may follow. */
export function inert(text: string, tags: readonly string[]): string {
  if (!text.includes('<')) return text;
  return text.replaceAll(new RegExp(`<(?=${GAP}(?:${tags.map(loose).join('|')}|$))`, 'gi'), '&lt;');
}

/** A name in the spellings that a model might take for it. */
function loose(tag: string): string {
  return tag.replaceAll(/[^A-Za-z0-9_-]/g, '').replaceAll(/[_-]/g, String.raw`[_\-\s]?`);
}
