import type { Boundary, Exec, Files, Git, Redact } from '../core/ports.ts';

/** What the context is read from. */
export interface ContextSources {
  files: Files;
  git: Git;
  exec: Exec;
  boundary: Boundary;
  /** Text of each input of the task. */
  inputs: Readonly<Record<string, string>>;
  /** GITHUB_EVENT_PATH, when it is set. */
  event_path?: string;
  redact: Redact;
  /** For one context command. */
  timeout_ms: number;
}

/** The whole text of one context item, before it is cut. */
export interface ItemText {
  /** One line: "git diff main..HEAD". */
  label: string;
  text: string;
  /** What the model must know about the text. */
  notes: string[];
  /** Notes that people must know, too. */
  warnings: string[];
  /** Bytes that were not even read, because the whole is far larger than what may be shown. */
  unread_bytes: number;
  /** False when an empty text does not mean that there was nothing: a command that failed. */
  may_be_empty: boolean;
  /** Says how much of the countable things a cut text still shows. */
  count?(shown: string): string;
}

/** Bytes of an item that are held to be redacted and cut exactly; more is only counted. */
export function heldBytes(max_size_bytes: number): number {
  return Math.max(4 * max_size_bytes, 1024 * 1024);
}

/** An item with nothing special about it. */
export function plainItem(label: string, text: string): ItemText {
  return { label, text, notes: [], warnings: [], unread_bytes: 0, may_be_empty: true };
}
