import { shortened } from '../core/graphemes.ts';

// A stack begins behind the message; what people need stands before it.
const STACK = /\n\s+at [^\n]*:\d+:\d+[^]*$/;

/** The text as one line of at most `longest` characters: no stack, no line breaks, the cut shown by an ellipsis. */
export function oneLine(text: string, longest: number): string {
  // What is far beyond the cut is not worth a pass of the patterns.
  const line = text
    .slice(0, longest * 8)
    .replace(STACK, '')
    .replace(/\s+/g, ' ')
    .trim();
  return shortened(line, longest);
}
