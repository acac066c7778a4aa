// What agent-run costs beside a minimal client, as medians and ratios of one session: `npm run bench -- --help`.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { node24 } from '../scripts/node24-path.mjs';
import { measure as measureBatch } from './scenarios/batch.mjs';
import { measure as measureOutput } from './scenarios/output.mjs';
import { measureOverlap, measureParallel } from './scenarios/overlap.mjs';
import { measure as measureStart } from './scenarios/start.mjs';
import { measure as measureTokens } from './scenarios/tokens.mjs';
import { measureGrowth, measureTurns } from './scenarios/turns.mjs';
import { tableOf, withBudget } from './table.mjs';
import { openWorld } from './world.mjs';

const SCENARIOS = {
  start: measureStart,
  turns: measureTurns,
  growth: measureGrowth,
  parallel: measureParallel,
  overlap: measureOverlap,
  output: measureOutput,
  tokens: measureTokens,
  batch: measureBatch,
};
const HELP = `npm run bench -- [options]

  --only NAME[,NAME]  of ${Object.keys(SCENARIOS).join(', ')}
  --rounds N          how often each is measured (5)
  --node 24           on the Node that tools/node24 brings, instead of the one that runs this
  --short             the form CI runs: fewer rounds, nothing that takes long
  --json              the rows as JSON
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    node: { type: 'string' },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else await bench();

async function bench() {
  const rounds = Math.max(1, Number(values.rounds ?? (values.short ? 3 : 5)) || 1);
  const names = values.only?.split(',') ?? Object.keys(SCENARIOS);
  const unknown = names.find((name) => !Object.hasOwn(SCENARIOS, name));
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}\n${HELP}`);
  const node = values.node === '24' ? node24() : process.execPath;
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const budget = JSON.parse(readFileSync(new URL('budget.json', import.meta.url), 'utf8'));
  const world = await openWorld(node);
  const rows = [];
  try {
    for (const name of names) {
      process.stderr.write(`bench: ${name}\n`);
      rows.push(...(await SCENARIOS[name]({ world, rounds, short: values.short })));
    }
  } finally {
    world.close();
  }
  const judged = withBudget(rows, budget, version.slice(1).split('.')[0]);
  const json = JSON.stringify({ node: version, rounds, rows: judged }, null, 2);
  process.stdout.write(values.json ? `${json}\n` : tableOf(judged, `Node ${version}, medians of ${rounds} rounds`));
}
