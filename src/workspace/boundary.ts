import type { SandboxConfig } from '../core/config.ts';
import type { Boundary } from '../core/ports.ts';

export interface BoundaryOptions {
  /** From `toolEnvironment`. */
  env: Readonly<Record<string, string>>;
  mode: SandboxConfig['mode'];
  /** Why there is no sandbox, for stderr and the summary. */
  detail: string;
}

/** The boundary without a sandbox: a clean environment and nothing more. */
export function createBoundary({ env, mode, detail }: BoundaryOptions): Boundary {
  return {
    state: { mode, active: 'none', detail },
    env,
    wrap: (argv, cwd) => ({ argv: [...argv], cwd, env: { ...env } }),
  };
}
