// XML written by hand: elements, attributes and text, all escaped.

import { showControls } from '../core/sanitise.ts';

export type XmlAttributes = Record<string, string | number | null | undefined>;

/** An element of children that are XML already; attributes that are null or undefined are left out. */
export function element(name: string, attributes: XmlAttributes, children: readonly string[] = []): string {
  const shown = Object.entries(attributes)
    .filter((entry): entry is [string, string | number] => entry[1] !== null && entry[1] !== undefined)
    .map(([key, value]) => ` ${key}="${xmlText(String(value)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`)
    .join('');
  if (children.length === 0) return `<${name}${shown}/>`;
  // Elements on lines of their own; a text stays as it is, and none begins with `<`.
  const apart = children[0]?.startsWith('<') === true ? '\n' : '';
  return `<${name}${shown}>${apart}${children.join(apart)}${apart}</${name}>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** Text as XML holds it. What XML 1.0 cannot hold or no reader sees is shown as an escape. */
export function xmlText(text: string): string {
  return (
    showControls(text.replaceAll(/\r\n?/g, '\n'))
      // U+FFFE and U+FFFF are no characters of XML.
      .replaceAll(/[\ufffe\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
      .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
      // The same text to XML, and no command to a CI system that reads it in a log.
      .replaceAll('::', '&#58;&#58;')
      .replaceAll('##', '&#35;&#35;')
  );
}
