import { cutMiddle } from '../core/cut.ts';
import type { Boundary, Exec, ExecResult, Redact, RunVerify } from '../core/ports.ts';

export interface VerifyOptions {
  exec: Exec;
  boundary: Boundary;
  /** The workspace. */
  cwd: string;
  /** For a command that names no timeout of its own. */
  timeout_ms: number;
  /** Of the output that goes back to the agent. */
  max_output_bytes: number;
  redact: Redact;
}

/** Held so that secrets are found before the cut. */
const HELD_BYTES = 4 * 1024 * 1024;

/** Runs one verify command; only exit code 0 in time is a success. */
export function createVerify(options: VerifyOptions): RunVerify {
  return async (command, signal) => {
    const result = await options.exec(command.run, {
      cwd: options.cwd,
      boundary: options.boundary,
      timeout_ms: command.timeout_ms ?? options.timeout_ms,
      signal,
      max_output_bytes: Math.max(HELD_BYTES, options.max_output_bytes),
    });
    return {
      command: options.redact(command.run.map(shellWord).join(' ')),
      ok: result.ended_by === 'exit' && result.exit_code === 0,
      exit_code: result.exit_code,
      timed_out: result.ended_by === 'timeout',
      output: outputOf(result, options),
      duration_ms: result.duration_ms,
    };
  };
}

function outputOf(result: ExecResult, options: VerifyOptions): string {
  if (result.ended_by === 'start_failed') return options.redact(result.detail ?? 'the command cannot start');
  const unread = result.omitted_bytes > 0 ? `${result.omitted_bytes} more were not kept` : '';
  const { text } = cutMiddle(options.redact(result.output), options.max_output_bytes, unread);
  if (result.ended_by === 'limit') return `${text}\n[ended: it took ${result.detail}]`;
  return result.ended_by === 'signal' ? `${text}\n[ended by ${result.detail}]` : text;
}

/** An argument as a shell would need it, for people to copy. */
function shellWord(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}
