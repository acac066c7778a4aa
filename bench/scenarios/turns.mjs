// What a turn costs beside the model and the tool, and whether it costs more when the conversation is long.

import { inTurns, median, medianOf, overheads, ratio, row } from '../figures.mjs';
import { runOurs, runReference } from '../world.mjs';

const TURNS = 20;
const MANY = 200;
const BASH = { bash: { allow: ['echo *', 'seq *'] } };
const OFF = { sandbox: { mode: 'off' } };

/** A conversation of that many turns with one command in each but the last. */
export function chain(turns, command = 'echo hello') {
  const calls = Array.from({ length: turns - 1 }, () => ({ blocks: [{ name: 'bash', input: { command } }] }));
  return [...calls, { blocks: [{ text: 'Done.' }] }];
}

/** So that no limit ends a long conversation. */
export function limits(turns) {
  return { limits: { max_turns: turns + 1, max_tool_calls: turns + 1, max_total_tokens: null } };
}

export async function measureTurns({ world, rounds }) {
  const turns = chain(TURNS);
  const task = { tools: BASH, ...limits(TURNS) };
  const results = await inTurns(rounds, {
    reference: () => runReference(world, turns),
    plain: () => runOurs(world, turns, { ...task, ...OFF }),
    sandbox: () => runOurs(world, turns, task),
  });
  const each = (name) => medianOf(results[name], (result) => median(overheads(result)));
  const floor = each('reference');
  return [
    ratio('per-turn overhead', each('plain'), floor),
    row('per-turn overhead, sandbox, over the floor', each('sandbox') - floor, {
      ours: each('sandbox'),
      reference: floor,
      unit: 'ms',
    }),
  ];
}

export async function measureGrowth({ world, rounds, short }) {
  const turns = chain(MANY, 'seq 1 300');
  const task = { tools: BASH, ...limits(MANY), ...OFF };
  const results = await inTurns(short ? 1 : Math.min(rounds, 2), { ours: () => runOurs(world, turns, task) });
  const part = (from, to) => medianOf(results.ours, (result) => median(overheads(result).slice(from, to)));
  const [early, late] = [part(0, 20), part(-20)];
  return [ratio(`last 20 of ${MANY} turns over the first 20`, late, early)];
}
