import type { ContextItem } from '../core/config.ts';
import { cutMiddle } from '../core/cut.ts';
import { assertNever, UsageError } from '../core/errors.ts';
import type { ContextPart } from '../core/events.ts';
import type { CollectContext } from '../core/ports.ts';
import { readCommand } from './command-item.ts';
import { readEvent } from './event-item.ts';
import { readFiles } from './file-item.ts';
import { readDiff, readLog } from './git-items.ts';
import { type ContextSources, type ItemText, plainItem } from './source.ts';

/** Reads the task's context in order; what the caller has to mend is thrown as UsageError. */
export function createContext(sources: ContextSources): CollectContext {
  return async (items, signal) => {
    const parts: ContextPart[] = [];
    const warnings: string[] = [];
    for (const item of items) {
      if (signal.aborted) break;
      const read = redacted(await readItem(item, sources, signal), sources);
      const about = (note: string): string => `context ${read.label}: ${note}`;
      const skip = emptyAction(item, read);
      if (skip !== undefined) return { parts, skip, warnings: [...warnings, ...read.warnings.map(about)] };
      const { part, cut } = cutItem(item, read);
      parts.push(part);
      warnings.push(...[...read.warnings, ...cut].map(about));
    }
    return { parts, warnings };
  };
}

function readItem(item: ContextItem, sources: ContextSources, signal: AbortSignal): Promise<ItemText> {
  switch (item.kind) {
    case 'git_diff':
      return readDiff(item, sources);
    case 'git_log':
      return readLog(item, sources);
    case 'files':
      return readFiles(item, sources, signal);
    case 'command':
      return readCommand(item, sources, signal);
    case 'input':
      return readInput(item, sources);
    case 'github_event':
      return readEvent(item, sources);
    default:
      return assertNever(item);
  }
}

async function readInput(item: Extract<ContextItem, { kind: 'input' }>, { inputs }: ContextSources): Promise<ItemText> {
  const text = Object.hasOwn(inputs, item.name) ? inputs[item.name] : undefined;
  if (text === undefined) {
    throw new UsageError(`context input ${item.name}: the task has no such input; declare it under inputs`);
  }
  return plainItem(`input ${item.name}`, text);
}

/** Secrets go before anything is cut, since half a secret would not be found. */
function redacted(read: ItemText, { redact }: ContextSources): ItemText {
  return {
    ...read,
    label: redact(read.label),
    text: redact(read.text),
    notes: read.notes.map(redact),
    warnings: read.warnings.map(redact),
  };
}

/** Why the run is skipped, when an empty item asks for that. */
function emptyAction(item: ContextItem, read: ItemText): string | undefined {
  if (read.text.trim() !== '' || read.unread_bytes > 0 || !read.may_be_empty) return undefined;
  const notes = read.notes.length > 0 ? ` (${read.notes.join('; ')})` : '';
  switch (item.limits.when_empty) {
    case 'run':
      return undefined;
    case 'skip':
      return `context ${read.label} is empty${notes}`;
    case 'fail':
      throw new UsageError(`context ${read.label} is empty${notes}, and its when_empty is "fail"`);
    default:
      return assertNever(item.limits.when_empty);
  }
}

function cutItem(item: ContextItem, read: ItemText): { part: ContextPart; cut: string[] } {
  const { max_size_bytes, on_overflow } = item.limits;
  const bytes = Buffer.byteLength(read.text) + read.unread_bytes;
  if (bytes > max_size_bytes && on_overflow === 'fail') {
    const mend = 'raise max_size, name fewer paths, or set on_overflow to "cut"';
    throw new UsageError(`context ${read.label} has ${bytes} bytes; max_size allows ${max_size_bytes}: ${mend}`);
  }
  const unread = read.unread_bytes > 0 ? `${read.unread_bytes} more were not read` : '';
  const { text, omitted_bytes } = cutMiddle(read.text, max_size_bytes, unread);
  const omitted = omitted_bytes + read.unread_bytes;
  const counted = omitted > 0 && read.count ? `; ${read.count(text)}` : '';
  const cut = omitted > 0 ? [`${omitted} of ${bytes} bytes are left out (max_size ${max_size_bytes})${counted}`] : [];
  const part = { label: read.label, text, bytes, omitted_bytes: omitted, notes: [...read.notes, ...cut] };
  return { part, cut };
}
