import { expect, test } from 'vitest';
import { readFrames } from '../../src/model/frames.ts';

/** Frames of a text that arrives in pieces of `size` bytes, and how often something arrived. */
async function frames(text: string, size: number): Promise<{ data: string[]; arrivals: number }> {
  const bytes = Buffer.from(text);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  let arrivals = 0;
  const data: string[] = [];
  for await (const frame of readFrames(pieces(), () => (arrivals += 1))) data.push(frame);
  return { data, arrivals };
}

test.each([1, 3, 1000])('frames are the same in pieces of %i bytes', async (size) => {
  const text =
    '\ufeffevent: a\r\ndata: é👩‍💻\r\n\r\n: a comment\n\nid: 7\ndata:two\ndata: lines\n\ndata\n\ndata: last\n\n';
  expect((await frames(text, size)).data).toEqual(['é👩‍💻', 'two\nlines', 'last']);
});

test('a frame without its empty line is none, and every piece is a sign of life', async () => {
  expect(await frames(': ping\n\ndata: cut\n', 5)).toEqual({ data: [], arrivals: 4 });
});

test('a line of many pieces is put together in linear time', async () => {
  const started = performance.now();
  const { data } = await frames(`data: ${'x'.repeat(4_000_000)}\n\n`, 100);
  expect(data[0]).toHaveLength(4_000_000);
  expect(performance.now() - started).toBeLessThan(3000);
});
