// The most memory the program holds while a tool writes much more than the model is shown.

import { medianOf, inTurns, row } from '../figures.mjs';
import { runOurs } from '../world.mjs';
import { limits } from './turns.mjs';

const SIZES = { '50 MB': 50_000_000, '500 MB': 500_000_000 };

export async function measure({ world, rounds, short }) {
  const rows = [];
  for (const [name, bytes] of Object.entries(SIZES)) {
    const command = `yes 0123456789abcdef | head -c ${bytes}`;
    const turns = [{ blocks: [{ name: 'bash', input: { command } }] }, { blocks: [{ text: 'Done.' }] }];
    const task = { tools: { bash: { allow: ['yes *', 'head *'] } }, sandbox: { mode: 'off' }, ...limits(2) };
    const results = await inTurns(short ? 1 : Math.min(rounds, 2), {
      ours: () => runOurs(world, turns, task, { peak: true }),
    });
    rows.push(
      row(
        `peak memory, ${name} of output`,
        medianOf(results.ours, ({ peak_mb }) => peak_mb),
        { unit: 'MB' },
      ),
    );
  }
  return rows;
}
