// Calls that only read run together, and while the model still streams.

import { inTurns, medianOf, row } from '../figures.mjs';
import { runOurs } from '../world.mjs';

const PARALLEL = 8;
/** A tool that takes its time and only reads. */
const wait = (name, seconds) => ({
  name,
  description: 'Waits.',
  effect: 'read',
  input_schema: { type: 'object', properties: {}, additionalProperties: false },
  command: ['sleep', String(seconds)],
});
const DONE = { blocks: [{ text: 'Done.' }] };
const STREAM_MS = 600;

export async function measureParallel({ world, rounds }) {
  const calls = Array.from({ length: PARALLEL }, () => ({ name: 'wait', input: {} }));
  const turns = [{ blocks: calls }, DONE];
  const task = { custom_tools: [wait('wait', 0.5)] };
  const results = await inTurns(rounds, {
    plain: () => runOurs(world, turns, { ...task, sandbox: { mode: 'off' } }),
    sandbox: () => runOurs(world, turns, task),
  });
  const all = (name) => medianOf(results[name], ({ requests: [one, two] }) => (two.at - one.stops[0]) / 1000);
  return [
    row(`${PARALLEL} half-second reads in all`, all('plain'), { unit: 's' }),
    row(`${PARALLEL} half-second reads in all, sandbox`, all('sandbox'), { unit: 's' }),
  ];
}

/** A short and a long read, begun while a text still streams: the longer of stream and tools is the critical path. */
export async function measureOverlap({ world, rounds }) {
  const blocks = [
    { name: 'short', input: {} },
    { name: 'long', input: {}, then_ms: STREAM_MS },
  ];
  const turns = [{ blocks }, { blocks: [{ name: 'short', input: {}, then_ms: STREAM_MS }] }, DONE];
  const custom_tools = [wait('short', 0.3), wait('long', 1)];
  const results = await inTurns(rounds, {
    plain: () => runOurs(world, turns, { custom_tools, sandbox: { mode: 'off' } }),
    sandbox: () => runOurs(world, turns, { custom_tools }),
  });
  const over = (name) =>
    medianOf(results[name], ({ requests: [one, two, three] }) => {
      const first = two.at - Math.max(one.stops[1] + 1000, one.ended);
      return first + three.at - Math.max(two.stops[0] + 300, two.ended);
    });
  return [
    row('overlap, beyond the critical path', over('plain'), { unit: 'ms' }),
    row('overlap, beyond the critical path, sandbox', over('sandbox'), { unit: 'ms' }),
  ];
}
