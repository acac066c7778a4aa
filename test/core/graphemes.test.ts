import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutMiddle } from '../../src/core/cut.ts';
import { boundsAt, columnsOf, headOf, padColumns, shortened } from '../../src/core/graphemes.ts';

const CLUSTERS = ['a', 'é', 'e\u0301', '界', '한', '한', '👩‍👩‍👧', '👍🏽', '🇩🇪', '❤️', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', 'न्', ' ', '\r\n'];
const SEGMENTER = new Intl.Segmenter('und', { granularity: 'grapheme' });
const clusters = fc.array(fc.constantFrom(...CLUSTERS), { maxLength: 60 });

function split(text: string): string[] {
  return [...SEGMENTER.segment(text)].map(({ segment }) => segment);
}

describe('a text that is cut', () => {
  test('keeps whole what a reader takes for one character', () => {
    fc.assert(
      fc.property(clusters, fc.nat(80), (parts, most) => {
        const text = parts.join('');
        const head = headOf(text, most);
        expect(head.length).toBeLessThanOrEqual(most);
        expect(text.startsWith(head)).toBe(true);
        const all = split(text);
        expect(split(head).every((segment, index) => segment === all[index])).toBe(true);
        expect(head.length + (all[split(head).length] ?? 'x'.repeat(99)).length).toBeGreaterThan(most);
      }),
      { numRuns: 1000 },
    );
  });

  test('may be cut in its bytes only where no character is torn', () => {
    fc.assert(
      fc.property(clusters, fc.nat(400), (parts, at) => {
        const text = parts.join('');
        const bytes = Buffer.from(text);
        const place = Math.min(at, bytes.length);
        const { start, end } = boundsAt(bytes, place);
        const places = [0];
        for (const segment of split(text)) places.push((places.at(-1) ?? 0) + Buffer.byteLength(segment));
        expect([start, end]).toEqual([
          Math.max(...places.filter((one) => one <= place)),
          Math.min(...places.filter((one) => one >= place)),
        ]);
      }),
      { numRuns: 1000 },
    );
  });

  test('shows head and tail of whole characters within its size', () => {
    fc.assert(
      fc.property(clusters, fc.integer({ min: 1, max: 300 }), (parts, max) => {
        const text = parts.join('');
        const cut = cutMiddle(text, max);
        const [head = '', tail = ''] = cut.text.split(/\n\[… \d+ bytes left out …\]\n/);
        const rest = cut.omitted_bytes === 0 ? '' : tail;
        expect(text.startsWith(head) && text.endsWith(rest)).toBe(true);
        const kept = Buffer.byteLength(head) + Buffer.byteLength(rest);
        expect(kept).toBeLessThanOrEqual(Math.max(max, cut.omitted_bytes === 0 ? Infinity : max));
        expect(kept + cut.omitted_bytes).toBe(Buffer.byteLength(text));
        expect([...split(head), ...split(rest)].every((segment) => split(text).includes(segment))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('ends with an ellipsis, and one that fits does not', () => {
    expect(shortened('界界界', 3)).toBe('界界界');
    expect(shortened('ab👩‍👩‍👧cd', 5)).toBe('ab…');
    expect(shortened('x\ud83d', 9)).toBe('x\ufffd');
  });

  test('of bytes that are no UTF-8 is cut somewhere, and of one endless cluster too', () => {
    expect(boundsAt(Buffer.from([0x61, 0xff, 0xfe, 0x62]), 2)).toEqual({ start: 2, end: 2 });
    const zalgo = Buffer.from(`a${'\u0301'.repeat(5000)}`);
    const { start, end } = boundsAt(zalgo, 5000);
    expect([start, end].every((at) => Math.abs(at - 5000) < 4)).toBe(true);
    expect(headOf(zalgo.toString(), 1000)).toHaveLength(1000);
  });
});

describe('the width of a text', () => {
  test.each([
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['変更', 4],
    ['ｶﾅ', 2],
    ['ＡＢ', 4],
    ['한글', 4],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['©', 1],
    ['a\u200bb', 2],
    ['', 0],
  ])('%j takes %i columns', (text, columns) => {
    expect(columnsOf(text)).toBe(columns);
    expect(columnsOf(padColumns(text, 10))).toBe(10);
  });
});
