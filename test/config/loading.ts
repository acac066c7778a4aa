// Loads task files from a real temporary folder, as a front door would.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadRun, type LoadRequest } from '../../src/config/load.ts';
import { mergeOptions } from '../../src/config/merge.ts';
import type { RawFlags } from '../../src/config/options.ts';
import { UsageError } from '../../src/core/errors.ts';
import type { RunConfig } from '../../src/core/config.ts';

export interface Loading {
  folder: string;
  /** Path below the folder -> text. */
  files?: Record<string, string>;
  file?: string;
  flags?: RawFlags;
  env?: Record<string, string>;
  stdin?: string;
  openCommit?: NonNullable<LoadRequest['openCommit']>;
}

export function load({
  folder,
  files = {},
  file = 'task.json',
  flags = {},
  env = {},
  stdin,
  openCommit,
}: Loading): Promise<RunConfig> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const request: LoadRequest = {
    file,
    options: mergeOptions(flags, env),
    env,
    cwd: folder,
    ...(openCommit ? { openCommit } : {}),
    readStdin: () =>
      stdin === undefined ? Promise.reject(new Error('stdin was read')) : Promise.resolve({ ok: true, text: stdin }),
  };
  return loadRun(request);
}

/** The message of the UsageError that loading ends with. */
export async function refusal(loading: Loading): Promise<string> {
  const error: unknown = await load(loading).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof UsageError) return error.message;
  throw new Error('expected a UsageError', { cause: error });
}
