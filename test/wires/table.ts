import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/pages.ts';
import { WIRES } from './wire.ts';
import type { Played } from './play.ts';

const PAGE = join(ROOT, 'docs/providers.md');
const PART = /(<!-- wires: measured by test\/wires -->\n)[^]*?(<!-- end of wires -->)/;

/** What was measured: the conversation's name, and what it came to on each wire. */
export type Measured = ReadonlyMap<string, readonly Played[]>;

/** One row a conversation, one column a wire: turns, calls, input and output tokens. */
export function tableOf(measured: Measured): string {
  const head = ['conversation', ...WIRES.map(({ name }) => name)];
  const rows = [...measured].map(([name, played]) => [name, ...played.map(cell)]);
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function cell({ turns, calls, input_tokens, output_tokens }: Played): string {
  return `${turns} · ${calls.length} · ${input_tokens} + ${output_tokens}`;
}

/** The page as it is, and as it would be with this table. */
export function pageWith(table: string): { now: string; rendered: string } {
  const now = readFileSync(PAGE, 'utf8');
  return { now, rendered: now.replace(PART, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`) };
}

export function writePage(text: string): void {
  writeFileSync(PAGE, text);
}
