import { closeSync, mkdirSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { boundsAt } from '../core/graphemes.ts';
import { IoError, errorText } from '../core/errors.ts';
import type { OutputSink } from '../core/ports.ts';
import type { ReadStored } from '../tools/read-file.ts';

/** Whole outputs are kept up to this many bytes a call, and this many a run; beyond, the file says what is missing. */
export const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;
export const MAX_ALL_OUTPUTS_BYTES = 256 * 1024 ** 2;

export interface OutputCaps {
  max_file_bytes: number;
  max_all_bytes: number;
}

const CAPS: OutputCaps = { max_file_bytes: MAX_OUTPUT_BYTES, max_all_bytes: MAX_ALL_OUTPUTS_BYTES };

/** Keeps whole outputs as `outputs/0001-ID.txt`, written as they come in; tools are told the path below the run folder. */
export type KeepOutput = (tool_use_id: string) => OutputSink;

/** Reads what a store kept, by the path below its run folder. */
export function storedOutputs(run_dir: string): ReadStored {
  return async (path, max_bytes) => {
    try {
      const file = await open(join(run_dir, path));
      try {
        const { size } = await file.stat();
        const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(size, max_bytes)));
        return { ok: true, bytes: buffer.subarray(0, bytesRead), size };
      } finally {
        await file.close();
      }
    } catch {
      // ENOENT: the model made the name up.
      return { ok: false, reason: `there is no stored output run:${path}` };
    }
  };
}

/** The store of what runs nothing. */
export const keepNothing: KeepOutput = () => ({
  write: () => {},
  end: () => ({ path: '', kept_bytes: 0, left_out: 0 }),
});

/** The store of a run folder; one that goes on counts on from the files that are there. */
export function createOutputStore(outputsDir: string, caps: OutputCaps = CAPS): KeepOutput {
  let all: Measured | undefined;
  return (tool_use_id) => {
    const stored = <T>(act: () => T): T => {
      try {
        return act();
      } catch (error) {
        // A full disk, or a folder that is gone.
        throw new IoError(`cannot keep the whole output of ${tool_use_id}: ${errorText(error)}`, { cause: error });
      }
    };
    const sofar = stored(() => (all ??= measure(outputsDir)));
    sofar.count += 1;
    const name = `${String(sofar.count).padStart(4, '0')}-${fileName(tool_use_id)}.txt`;
    const file = stored(() => openSync(join(outputsDir, name), 'wx', 0o600));
    const sink = { kept_bytes: 0, left_out: 0 };
    return {
      write(bytes) {
        const room = Math.min(caps.max_file_bytes - sink.kept_bytes, caps.max_all_bytes - sofar.bytes);
        // Once something was left out, nothing that follows may stand behind it.
        const kept = sink.left_out > 0 ? NOTHING : head(bytes, Math.max(0, room));
        stored(() => writeFileSync(file, kept));
        sofar.bytes += kept.length;
        sink.kept_bytes += kept.length;
        sink.left_out += bytes.length - kept.length;
      },
      end() {
        stored(() => {
          if (sink.left_out > 0) writeFileSync(file, `\n[… ${sink.left_out} bytes left out: the run keeps no more]\n`);
          closeSync(file);
        });
        return { path: `outputs/${name}`, ...sink };
      },
    };
  };
}

const NOTHING = new Uint8Array();

interface Measured {
  count: number;
  bytes: number;
}

function measure(dir: string): Measured {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const names = readdirSync(dir);
  const numbers = names.map((name) => Number.parseInt(name, 10)).filter((number) => number > 0);
  const bytes = names.reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
  return { count: Math.max(0, ...numbers), bytes };
}

/** Ids come from the model's service and are no file names. */
function fileName(tool_use_id: string): string {
  return tool_use_id.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64) || 'call';
}

function head(bytes: Uint8Array, max_bytes: number): Uint8Array {
  return bytes.length <= max_bytes ? bytes : bytes.subarray(0, boundsAt(bytes, max_bytes).start);
}
