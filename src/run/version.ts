import manifest from '../../package.json' with { type: 'json' };
import type { RunStart, SandboxState } from '../core/events.ts';

/** The version of this build. */
export const VERSION: string = manifest.version;

/** Who ran it, for run_start and the result. */
export function runnerFacts(sandbox: SandboxState): RunStart['runner'] {
  return { version: VERSION, node: process.version, platform: `${process.platform}-${process.arch}`, sandbox };
}
