import { describe, expect, test } from 'vitest';
import { openOutput, type Writable } from '../../src/cli/streams.ts';

type Done = (error?: Error | null) => void;

/** A stream whose reader does what the test says with each piece. */
function stream(take: (piece: Uint8Array, done: Done, fail: (error: Error) => void) => void): Writable {
  let fail: (error: Error) => void = () => {};
  return {
    write(piece, done) {
      take(piece, done, (error) => fail(error));
      return true;
    },
    on(_event, listener) {
      fail = listener;
    },
  };
}

describe('an output', () => {
  test('is flushed when its reader took everything, however slowly', async () => {
    const text = `x${'😀'.repeat(20_000)}`; // no piece ends between two characters
    const read: Uint8Array[] = [];
    const output = openOutput(
      stream((piece, done) => {
        read.push(piece);
        setTimeout(done, 5);
      }),
      500,
    );
    output.write(text);
    expect(await output.flush()).toBe(true);
    expect(Buffer.concat(read).toString('utf8')).toBe(text);
  });

  test('of a reader that left is lost without an exception', async () => {
    const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const output = openOutput(
      stream((_piece, done, fail) => {
        queueMicrotask(() => {
          done(broken);
          fail(broken);
        });
      }),
    );
    output.write('x');
    expect(await output.flush()).toBe(false);
    output.write('more');
    expect(await output.flush()).toBe(false);
  });

  test('of a reader that stands still is given up', async () => {
    const output = openOutput(
      stream(() => {}),
      20,
    );
    output.write('x');
    expect(await output.flush()).toBe(false);
  });

  test('without anything written is flushed at once', async () => {
    expect(await openOutput(stream(() => {})).flush()).toBe(true);
  });
});
