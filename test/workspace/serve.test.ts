import { describe, expect, onTestFinished, test } from 'vitest';
import { PLAIN } from '../helpers/boundary.ts';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import { tempFolder } from '../helpers/temp.ts';
import { serve } from '../../src/workspace/serve.ts';
import type { Service } from '../../src/core/ports.ts';

async function start(script: string, cwd = tempFolder()): Promise<{ service: Service; heard: () => string }> {
  let heard = '';
  const take = (chunk: Uint8Array): void => {
    heard += Buffer.from(chunk).toString('utf8');
  };
  const started = await serve(['/bin/sh', '-c', script], { cwd, boundary: PLAIN, onStdout: take, onStderr: take });
  if (!started.ok) throw new Error(started.reason);
  const { service } = started;
  onTestFinished(() => service.kill());
  return { service, heard: () => heard };
}

describe('a process that runs beside the calls', () => {
  test('is written to and read from while it runs', async () => {
    const { service, heard } = await start('while read -r line; do echo "got $line"; done');
    service.write('one\n');
    await expect.poll(heard).toBe('got one\n');
    service.write('two\n');
    await expect.poll(heard).toBe('got one\ngot two\n');
  });

  test('leaves by itself when its input ends', async () => {
    const { service, heard } = await start('cat; echo bye; exit 5');
    await service.end();
    expect(await service.exited).toBe('it ended with exit code 5');
    expect(heard()).toBe('bye\n');
  });

  test('tells how it ended, with all it wrote, and takes its children along', async () => {
    const seconds = uniqueSeconds();
    const { service, heard } = await start(`sleep ${seconds} & echo last words; kill -9 $$`);
    expect(await service.exited).toBe('it was ended by SIGKILL');
    expect(heard()).toBe('last words\n');
    expect(processesWith(seconds)).toEqual([]);
    service.write('nobody hears this\n');
  });

  test('is ended within two seconds when it does not listen', async () => {
    const seconds = uniqueSeconds();
    const { service } = await start(`trap '' TERM; setsid sleep ${seconds} & while :; do sleep 1; done # ${seconds}`);
    await expect.poll(() => processesWith(seconds).length).toBeGreaterThan(1);
    const began = performance.now();
    await service.end();
    expect(performance.now() - began).toBeLessThan(2000);
    expect(processesWith(seconds)).toEqual([]);
  });

  test('cannot start where its program or folder is missing, with the reason', async () => {
    const options = { cwd: tempFolder(), boundary: PLAIN, onStdout: () => {}, onStderr: () => {} };
    expect(await serve(['no-such-program'], options)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('no-such-program'),
    });
    expect(await serve(['true'], { ...options, cwd: '/no/such/folder' })).toMatchObject({ ok: false });
  });
});
