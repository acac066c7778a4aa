import { describe, expect, test } from 'vitest';
import { compareMarkers, markerLine, type Marker, readMarker } from '../../src/publish/marker.ts';

const marker = (fields: Partial<Marker> = {}): Marker => ({
  task: 'review',
  file: 'ci/review.json',
  key: '',
  sticky: true,
  run: '100',
  attempt: 1,
  at: '2026-01-01T00:00:00.000Z',
  id: 'a',
  ...fields,
});

describe('a marker', () => {
  test.each(['--> <img src=x>', '-- >', '\n<!-- agent-run {} -->', '@octocat', 'é\u202e😀', '"\\'])(
    'holds the name %j on one line that it cannot end',
    (task) => {
      const line = markerLine(marker({ task }));
      expect(line).toMatch(/^<!-- agent-run [ -~]+ -->$/);
      expect(line.slice(5, -4)).not.toMatch(/--|[<>]/);
      expect(readMarker(`${line}\nbody`)).toEqual(marker({ task }));
    },
  );

  test('is read from the first line alone', () => {
    const line = markerLine(marker());
    expect(readMarker(`\n${line}`)).toBeUndefined();
    expect(readMarker(`x ${line}`)).toBeUndefined();
    expect(readMarker(`${line} x`)).toBeUndefined();
    expect(readMarker(`${line}\r\nbody`)).toEqual(marker());
  });

  test.each(['', '<!-- agent-run -->', '<!-- agent-run {"task":1} -->', '<!-- agent-run [] -->'])(
    'is not %j',
    (text) => {
      expect(readMarker(text)).toBeUndefined();
    },
  );
});

describe('of two markers the later', () => {
  test.each([
    [{ run: '101' }, { run: '100', attempt: 9 }],
    [{ run: '1000' }, { run: '999' }],
    [{ run: '90071992547409931' }, { run: '90071992547409930' }],
    [{ attempt: 10 }, { attempt: 9 }],
    [{ at: '2026-01-01T00:00:01.000Z' }, {}],
    [{ run: '', at: '2026-01-02T00:00:00.000Z' }, { run: '500' }],
  ])('is %j and not %j', (later, earlier) => {
    expect(compareMarkers(marker(later), marker(earlier))).toBeGreaterThan(0);
    expect(compareMarkers(marker(earlier), marker(later))).toBeLessThan(0);
  });

  test('is none when they are of the same moment, or of one that nobody can read', () => {
    expect(compareMarkers(marker(), marker({ id: 'b' }))).toBe(0);
    expect(compareMarkers(marker({ at: 'soon' }), marker())).toBe(0);
  });
});
