import { expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { ahead } from './driver/ahead.ts';
import { casesOf, named, type SecurityCase } from './driver/cases.ts';
import { mcpProblems } from './driver/mcp.ts';
import { playCli } from './driver/play-cli.ts';

// One server never answers, and is given its whole time.
vi.setConfig({ testTimeout: 60_000 });

const cli = useCli();
const isMeasured = ({ check = [] }: SecurityCase): boolean => check.some(({ type }) => type === 'memoryBelow');
const cases = casesOf('mcp').filter((one) => !isMeasured(one));
const run = ahead(cases.toReversed(), async (one) => mcpProblems(one));

test.each(named(cases.toReversed()))('%s', async (_name, one) => {
  expect(await run(one)).toEqual([]);
});

test.each(named(casesOf('mcp').filter(isMeasured)))('%s', async (_name, one) => {
  const problems = await mcpProblems(one, (fixture, start) => playCli(fixture, { ...start, cli: cli.path() }));
  expect(problems).toEqual([]);
});
