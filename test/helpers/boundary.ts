import type { Boundary } from '../../src/core/ports.ts';

/** A boundary without a sandbox and with nothing but a PATH. */
export const PLAIN: Boundary = {
  state: { mode: 'off', active: 'none', detail: 'test' },
  env: { PATH: process.env['PATH'] ?? '' },
  wrap: (argv, cwd) => ({ argv: [...argv], cwd, env: { PATH: process.env['PATH'] ?? '' } }),
};
