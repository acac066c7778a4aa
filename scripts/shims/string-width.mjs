// Stands in for string-width in the bundle: the real one builds an Intl.Segmenter and an emoji table at load,
// a third of the CLI's start time. Help texts are plain ASCII, so code points are columns enough.
import { stripVTControlCharacters } from 'node:util';

export default function stringWidth(text) {
  return Array.from(stripVTControlCharacters(String(text))).length;
}
