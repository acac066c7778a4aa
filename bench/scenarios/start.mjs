// From the start of the program to its first request, the whole of a run that says hello, and the memory it takes.

import { inTurns, medianOf, ratio } from '../figures.mjs';
import { runOurs, runReference } from '../world.mjs';

const SCHEMA = {
  type: 'object',
  properties: { greeting: { type: 'string' }, words: { type: 'array', items: { type: 'string' } } },
  required: ['greeting'],
  additionalProperties: false,
};
const HELLO = [{ blocks: [{ text: 'Hello.' }] }];
const HELLO_JSON = [{ blocks: [{ text: '{"greeting":"Hello."}' }] }];
const OFF = { sandbox: { mode: 'off' } };

export async function measure({ world, rounds }) {
  const peak = { peak: true };
  const sides = {
    reference: () => runReference(world, HELLO),
    plain: () => runOurs(world, HELLO, OFF),
    sandbox: () => runOurs(world, HELLO),
    schema: () => runOurs(world, HELLO_JSON, { ...OFF, output: { schema: SCHEMA } }),
    both: () => runOurs(world, HELLO_JSON, { output: { schema: SCHEMA } }),
  };
  const timed = await inTurns(Math.max(5, 2 * rounds), sides);
  const held = await inTurns(Math.min(rounds, 3), {
    reference: () => runReference(world, HELLO, {}, peak),
    plain: () => runOurs(world, HELLO, {}, peak),
    schema: () => runOurs(world, HELLO_JSON, { output: { schema: SCHEMA } }, peak),
  });
  const first = (name) => medianOf(timed[name], ({ started, requests }) => requests[0].at - started);
  const whole = (name) => medianOf(timed[name], ({ started, ended }) => ended - started);
  const memory = (name) => medianOf(held[name], ({ peak_mb }) => peak_mb);
  const times = Object.entries({ 'start to first request': first, 'whole hello run': whole }).flatMap(([name, of]) => [
    ratio(name, of('plain'), of('reference')),
    ratio(`${name}, sandbox`, of('sandbox'), of('reference')),
    ratio(`${name}, schema`, of('schema'), of('reference')),
    ratio(`${name}, schema and sandbox`, of('both'), of('reference')),
  ]);
  return [
    ...times,
    ratio('peak memory of hello', memory('plain'), memory('reference'), 'MB'),
    ratio('peak memory of hello, schema', memory('schema'), memory('reference'), 'MB'),
  ];
}
