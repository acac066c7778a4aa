import { describe, expect, test } from 'vitest';
import { columnsOf } from '../../src/core/graphemes.ts';
import { createLiveArea, fitColumns, type LiveArea } from '../../src/subscribers/live-area.ts';

function area(columns = 40): { live: LiveArea; text: () => string } {
  let text = '';
  return { live: createLiveArea({ write: (more) => void (text += more), columns: () => columns }), text: () => text };
}

describe('a live area', () => {
  test('redraws its lines in place and leaves lasting lines above', () => {
    const { live, text } = area();
    live.draw(['one', 'two']);
    live.print('stays\n');
    live.clear();
    expect(text()).toBe('one\ntwo\u001b[1A\r\u001b[Jstays\none\ntwo\u001b[1A\r\u001b[J');
  });

  test('writes nothing when nothing changed', () => {
    const { live, text } = area();
    live.draw(['one']);
    live.draw(['one']);
    expect(text()).toBe('one');
  });

  test('never fills the last column', () => {
    const { live, text } = area(10);
    live.draw(['0123456789']);
    expect(text()).toBe('01234567…');
  });
});

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdefg', 6, 'abcde…'],
  ['漢字漢字', 6, '漢字…'],
  ['漢字漢', 6, '漢字漢'],
  ['a👩‍👩‍👧b', 3, 'a…'],
  ['🇩🇪🇫🇷', 4, '🇩🇪🇫🇷'],
])('%s fits into %i columns as %s', (text, columns, expected) => {
  expect(fitColumns(text, columns)).toBe(expected);
  expect(columnsOf(fitColumns(text, columns))).toBeLessThanOrEqual(columns);
});
