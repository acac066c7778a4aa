import { openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openJournal, readJournal } from '../../src/journal/journal.ts';
import { runStart } from '../helpers/events.ts';
import { tempFolder } from '../helpers/temp.ts';
import type { EventBody } from '../../src/core/events.ts';

const clock = { now: () => 0, sleep: async () => {} };
const notice: EventBody = { type: 'notice', level: 'info', code: 'x', message: 'x' };

describe('a journal', () => {
  test('has each event on disk, numbered and whole, before append returns', () => {
    const file = join(tempFolder(), 'transcript.jsonl');
    const journal = openJournal(file, 'run', clock);
    for (const body of [runStart(), notice]) {
      const event = journal.append(body);
      expect(readJournal(file).events.at(-1)).toEqual(event);
    }
    journal.close();
    expect(readJournal(file).events.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test('that is closed takes nothing, and never writes into the file that got its descriptor', () => {
    const folder = tempFolder();
    const journal = openJournal(join(folder, 'transcript.jsonl'), 'run', clock);
    journal.append(notice);
    journal.close();
    const other = openSync(join(folder, 'other'), 'w');
    expect(() => journal.append(notice)).toThrow('came after the end');
    closeSync(other);
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('');
  });
});
