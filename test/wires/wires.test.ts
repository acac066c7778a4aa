import { describe, expect, test } from 'vitest';
import { CONVERSATIONS } from './conversations.ts';
import { play } from './play.ts';
import { pageWith, tableOf, writePage } from './table.ts';
import { OUTPUT_TOKENS, WIRES } from './wire.ts';
import type { Played } from './play.ts';

const measured = new Map<string, Played[]>();

describe.each(CONVERSATIONS)('$name', (conversation) => {
  const all: Played[] = [];
  measured.set(conversation.name, all);

  test.each(WIRES)('goes the same over $name', async (wire) => {
    const played = await play(conversation, wire);
    expect(played).toMatchObject({ limit: null, ...conversation.expected, complaints: [], replay: null });
    expect(played.output_tokens).toBe(played.turns * OUTPUT_TOKENS);
    expect(played).toEqual(all[0] ?? played);
    all.push(played);
  });
});

test('docs/providers.md has the table of all conversations over all wires', () => {
  expect([measured.size, WIRES.length]).toEqual([12, 4]);
  const table = tableOf(measured);
  console.info(`turns · calls · input + output tokens\n\n${table}`);
  const { now, rendered } = pageWith(table);
  const write = process.env['AGENT_RUN_WRITE_TABLE'] === '1';
  if (write) writePage(rendered);
  expect(write ? rendered : now, 'run AGENT_RUN_WRITE_TABLE=1 npx vitest run test/wires').toBe(rendered);
});
