// `agent-run doctor`: what this machine offers to a run.

import { resolve } from 'node:path';
import { mergeOptions } from '../config/merge.ts';
import { jsonLine, logLine } from '../core/sanitise.ts';
import type { Check } from '../run/doctor-check.ts';
import { diagnose } from '../run/doctor.ts';
import type { Invocation } from './invocation.ts';
import type { World } from './world.ts';

/** Prints one line for each check, and a second one with what to do; 2 when one failed, else 0. */
export async function doctorCommand({ flags }: Invocation, world: World): Promise<number> {
  const { env, cwd } = world;
  const options = mergeOptions(flags, env);
  const checks = await diagnose({
    env,
    cwd,
    workspace: resolve(cwd, options.workspace ?? '.'),
    ...(options.out === undefined ? {} : { out: resolve(cwd, options.out) }),
    untrusted: options.untrusted,
    offline: flags['offline'] === true,
  });
  const ok = checks.every(({ state }) => state !== 'fail');
  const text = options.format === 'text' ? checks.map(checkText).join('') : `${jsonLine({ ok, checks })}\n`;
  world.stdout.write(text);
  return ok ? 0 : 2;
}

function checkText({ name, state, text, mend }: Check): string {
  const lines = [`${state.padEnd(4)}  ${name}: ${text}`, ...(mend === undefined ? [] : [`      to mend it: ${mend}`])];
  return lines.map((line) => `${logLine(line)}\n`).join('');
}
