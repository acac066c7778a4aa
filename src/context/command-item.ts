import type { ContextItem } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import type { ExecResult } from '../core/ports.ts';
import { type ContextSources, heldBytes, type ItemText, plainItem } from './source.ts';

type CommandItem = Extract<ContextItem, { kind: 'command' }>;

/** What a command prints; one that cannot start is a UsageError, one that fails is shown with its exit code. */
export async function readCommand(item: CommandItem, sources: ContextSources, signal: AbortSignal): Promise<ItemText> {
  const label = `command ${item.argv.join(' ')}`;
  const result = await sources.exec(item.argv, {
    cwd: sources.files.root,
    boundary: sources.boundary,
    timeout_ms: sources.timeout_ms,
    signal,
    max_output_bytes: heldBytes(item.limits.max_size_bytes),
  });
  if (result.ended_by === 'start_failed') throw new UsageError(`context ${label}: ${result.detail ?? 'cannot start'}`);
  const failure = failureOf(result, sources.timeout_ms);
  const notes = failure === undefined ? [] : [failure];
  return {
    ...plainItem(label, result.output),
    notes,
    warnings: notes,
    unread_bytes: result.omitted_bytes,
    may_be_empty: failure === undefined,
  };
}

function failureOf(result: ExecResult, timeout_ms: number): string | undefined {
  if (result.ended_by === 'exit')
    return result.exit_code === 0 ? undefined : `the command ended with ${result.exit_code}`;
  if (result.ended_by === 'timeout') return `the command was ended after ${timeout_ms} ms; this is what it had printed`;
  if (result.ended_by === 'limit') return `the command was ended, because it took ${result.detail}`;
  return result.ended_by === 'signal' ? `the command was ended by ${result.detail}` : 'the command was cancelled';
}
