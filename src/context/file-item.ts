import type { ContextItem } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { isLiteral } from '../core/globs.ts';
import type { Files } from '../core/ports.ts';
import { type ContextSources, heldBytes, type ItemText, plainItem } from './source.ts';

type FilesItem = Extract<ContextItem, { kind: 'files' }>;

const MOST_FILES = 2000;
const SNIFFED_BYTES = 8000;

/** The files that paths and globs name, one after the other; a path that names none is a UsageError. */
export async function readFiles(item: FilesItem, sources: ContextSources, signal: AbortSignal): Promise<ItemText> {
  const label = `files ${item.paths.join(' ')}`;
  const { names, more } = await namesOf(item, sources.files, signal);
  const texts: string[] = [];
  const notes = more ? [`more files match than the ${names.length} that are listed here`] : [];
  let room = heldBytes(item.limits.max_size_bytes);
  let unread_bytes = 0;
  for (const name of names) {
    if (signal.aborted) break;
    const file = await readOne(sources.files, name, room);
    texts.push(`--- ${name} (${file.size} bytes) ---\n${file.text}`);
    notes.push(...file.notes);
    room -= file.read;
    unread_bytes += file.size - file.read;
  }
  const count = (shown: string): string => {
    const here = names.filter((name) => shown.includes(`--- ${name} (`)).length;
    return `${names.length} files, ${names.length - here} of them do not stand here`;
  };
  return { ...plainItem(label, texts.join('\n')), notes, warnings: more ? notes.slice(0, 1) : [], unread_bytes, count };
}

async function namesOf(
  item: FilesItem,
  files: Files,
  signal: AbortSignal,
): Promise<{ names: string[]; more: boolean }> {
  const names = new Set<string>();
  for (const path of item.paths.filter(isLiteral)) {
    const resolved = await files.resolve(path, 'read');
    if (!resolved.ok) throw new UsageError(`context files: ${resolved.reason}`);
    names.add(resolved.path);
  }
  const patterns = item.paths.filter((path) => !isLiteral(path));
  if (patterns.every((pattern) => pattern.startsWith('!'))) return { names: [...names], more: false };
  const listed = await files.list(files.root, { patterns, limit: MOST_FILES, signal });
  if (listed.reason !== undefined) throw new UsageError(`context files: ${listed.reason}`);
  for (const name of listed.files) names.add(name);
  return { names: [...names], more: listed.more };
}

async function readOne(files: Files, name: string, room: number) {
  const resolved = await files.resolve(name, 'read');
  const file = resolved.ok ? await files.read(resolved.real, Math.max(room, 0)) : resolved;
  if (!file.ok)
    return { text: `(cannot be read: ${file.reason})\n`, size: 0, read: 0, notes: [`${name} cannot be read`] };
  const { size } = file;
  const bytes = wholeLines(Buffer.from(file.bytes), size);
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return { text: '(binary)\n', size, read: size, notes: [] };
  const text = bytes.toString('utf8');
  const unread = size - bytes.length;
  const end = unread > 0 ? `[… ${unread} more bytes of this file were not read …]\n` : '';
  const exact = Buffer.from(text, 'utf8').equals(bytes);
  const notes = exact ? [] : [`${name} is not UTF-8: odd bytes are shown as \ufffd`];
  return { text: text + end, size, read: bytes.length, notes };
}

/** Of a file that was not read to its end only whole lines count, so that no code point and no secret is split. */
function wholeLines(bytes: Buffer, size: number): Buffer {
  return bytes.length < size ? bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1) : bytes;
}
