// What a reader may pass over between the bracket and the name.
const GAP = String.raw`[\s/\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]*`;
const OWN = String.raw`tool[_\-\s]?(?:call|result)`;

/**
 * Text from outside in which neither our tags nor these open or close anything: `<` before their names is written `&lt;`,
 * and so is one at the end, for more text may follow.
 */
export function inert(text: string, tags: readonly string[]): string {
  if (!text.includes('<')) return text;
  const names = [OWN, ...tags.map(exact)].join('|');
  return text.replaceAll(new RegExp(`<(?=${GAP}(?:${names}|$))`, 'gi'), '&lt;');
}

function exact(tag: string): string {
  return `${tag.replaceAll(/[^A-Za-z0-9_-]/g, '')}(?![A-Za-z0-9_-])`;
}
