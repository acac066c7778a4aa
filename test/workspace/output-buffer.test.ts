import { array, assert, nat, property, string, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { OutputBuffer, WholeCodePoints } from '../../src/workspace/output-buffer.ts';

function hold(chunks: readonly Uint8Array[], max_bytes: number) {
  const buffer = new OutputBuffer(max_bytes);
  for (const chunk of chunks) buffer.push(chunk);
  return buffer.finish('all of it: run:outputs/1');
}

test('a text within the limit is kept whole, however it is cut into chunks', () => {
  assert(
    property(array(uint8Array({ maxLength: 20 }), { maxLength: 20 }), (chunks) => {
      const all = Buffer.concat(chunks);
      expect(hold(chunks, all.length)).toEqual({ text: all.toString('utf8'), bytes: all.length, omitted_bytes: 0 });
    }),
  );
});

test('a longer one keeps head and tail, and the numbers add up', () => {
  assert(
    property(array(string({ unit: 'binary', maxLength: 30 }), { maxLength: 30 }), nat(60), (texts, max) => {
      const chunks = texts.map((text) => Buffer.from(text));
      const all = Buffer.concat(chunks).toString('utf8');
      const { text, bytes, omitted_bytes } = hold(chunks, max);
      expect(bytes).toBe(Buffer.byteLength(all));
      const gap = `\n[… ${omitted_bytes} bytes left out; all of it: run:outputs/1 …]\n`;
      const [head = '', tail = ''] = omitted_bytes === 0 ? [text, ''] : text.split(gap);
      expect(all.startsWith(head) && all.endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + omitted_bytes).toBe(bytes);
      expect(bytes - omitted_bytes).toBeLessThanOrEqual(max);
    }),
  );
});

test('B197: a cut inside an emoji leaves the emoji out', () => {
  const { text } = hold([Buffer.from(`a${'😀'.repeat(10)}b`)], 12);
  expect(text.isWellFormed()).toBe(true);
  expect(text).not.toContain('\ufffd');
});

test('long runs of continuation bytes do not swallow head or tail', () => {
  const { text } = hold([Buffer.alloc(100, 0x80)], 20);
  expect([...text].filter((character) => character === '\ufffd')).toHaveLength(20);
});

test('a code point that is split between two chunks of a stream stays whole when another stream writes', () => {
  const [one, two] = [new WholeCodePoints(), new WholeCodePoints()];
  const emoji = Buffer.from('é😀');
  const parts = [one.push(emoji.subarray(0, 4)), two.push(Buffer.from('!')), one.push(emoji.subarray(4)), one.flush()];
  expect(Buffer.concat(parts).toString()).toBe('é!😀');
});

test('what never becomes a code point is not lost', () => {
  const stream = new WholeCodePoints();
  const bytes = Buffer.from([0xf0, 0x9f]);
  expect(Buffer.concat([stream.push(bytes), stream.flush()])).toEqual(bytes);
});

test('what a reader takes for one character is not torn at the gap', () => {
  const family = '👩‍👩‍👧';
  const buffer = new OutputBuffer(50);
  buffer.push(Buffer.from(`ab${family}${family}${'x'.repeat(100)}${family}${family}yz`));
  const { text, omitted_bytes } = buffer.finish();
  expect(text).toBe(`ab${family}\n[… ${omitted_bytes} bytes left out …]\n${family}yz`);
});
