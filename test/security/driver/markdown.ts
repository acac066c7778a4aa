/** Images from elsewhere that a page of Markdown would load: `![](http…)`, `<img …>` and reference images, outside code. */
export function remoteImages(markdown: string): string[] {
  const text = withoutCode(markdown);
  const inline = /(?<!\\)!\[(?:[^\]\\]|\\.)*\](?:\(|\[)/g;
  const html = /<\s*(?:img|picture|source|video|image|svg|object|embed|iframe|style|link)\b/gi;
  return [...(text.match(inline) ?? []), ...(text.match(html) ?? [])];
}

/** Without fenced blocks and code spans, in which nothing is rendered. */
function withoutCode(markdown: string): string {
  const kept: string[] = [];
  let fence = '';
  for (const line of markdown.split('\n')) {
    const ticks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence === '') {
      if (ticks === '') kept.push(line);
      fence = ticks;
    } else if (ticks.startsWith(fence) && line.trim() === ticks) fence = '';
  }
  // In a block of preformatted text only entities and tags are read.
  const text = kept
    .join('\n')
    .replaceAll(/^<pre>\n([\s\S]*?)^<\/pre>$/gm, (_all, inside: string) => inside.replaceAll(/[![`]/g, ''));
  return text.replaceAll(/(?<!`)(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '');
}
