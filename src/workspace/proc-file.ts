import { closeSync, openSync, readSync } from 'node:fs';

/** Room for nearly every file of /proc; the rare longer one is read in pieces. */
const room = Buffer.allocUnsafeSlow(16 * 1024);

/**
 * The bytes of a file of /proc, as Latin-1 text. Such files say that they are empty, and `readFileSync` then takes
 * 64 KiB for each: with a list of all processes for every call that is most of what a turn would cost. Throws what
 * opening and reading throws.
 */
export function readProc(path: string): string {
  const file = openSync(path, 'r');
  try {
    let text = '';
    for (let length = -1; length !== 0;) {
      length = readSync(file, room, 0, room.length, null);
      text += room.toString('latin1', 0, length);
    }
    return text;
  } finally {
    closeSync(file);
  }
}
