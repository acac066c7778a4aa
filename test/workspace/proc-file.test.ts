import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { lowestPid, ticksNow } from '../../src/workspace/process-list.ts';
import { readProc } from '../../src/workspace/proc-file.ts';

const onLinux = process.platform === 'linux';

test.runIf(onLinux)('a file of /proc is read whole, also when it is longer than the room for it', async () => {
  const long = 'ü'.repeat(20_000);
  const child = spawn('cat', { env: { LONG: long }, stdio: ['pipe', 'ignore', 'ignore'] });
  await new Promise((resolve) => child.once('spawn', resolve));
  const path = `/proc/${child.pid}/environ`;
  expect(readProc(path)).toBe(readFileSync(path, 'latin1'));
  expect(Buffer.from(readProc(path), 'latin1').toString('utf8')).toContain(long);
  child.stdin.end();
});

test.runIf(onLinux)('a call that has just begun is looked for among the processes that came after it', () => {
  expect(lowestPid(process.pid, ticksNow())).toBe(process.pid);
});

test.runIf(onLinux)(
  'an older call, one of unknown age, and one that numbers may have come round for, is looked for among all',
  () => {
    expect(lowestPid(process.pid, ticksNow() - 101)).toBe(0);
    expect(lowestPid(process.pid, undefined)).toBe(0);
    expect(lowestPid(undefined, ticksNow())).toBe(0);
    expect(lowestPid(2 ** 22, ticksNow())).toBe(0);
  },
);
