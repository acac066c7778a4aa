import { setTimeout as wait } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { reduce } from '../../src/agent/reduce.ts';
import { EMPTY_STATE, openCalls } from '../../src/agent/state.ts';
import { compileSchema } from '../../src/core/json-schema.ts';
import { parseDuration } from '../../src/core/measures.ts';
import { replay } from '../../src/run/replay.ts';
import { ofType, tell } from '../run/harness.ts';
import { faultStory, GATE, SCHEMA } from './fault-scripts.ts';
import type { JsonValue } from '../../src/core/json.ts';
import type { Story, Told } from '../run/harness.ts';

const RUNS = Number(process.env['AGENT_RUN_FAULT_RUNS'] || 40);
const BEYOND_MS = 5000;

async function validates(schema: object, value: JsonValue): Promise<boolean> {
  const compiled = await compileSchema(schema, { source: 'test' });
  return compiled.ok && compiled.validate(value).length === 0;
}

/** Code 0 needs an output that is there and passes everything the task asks of it. */
async function checkSuccess({ task = {} }: Story, told: Told): Promise<void> {
  const { schema, gate } = task['output'] as { schema?: object; gate?: object };
  const text = told.artifact('output.json') ?? told.artifact('output.md');
  expect(told.output_text?.trim()).toBeTruthy();
  expect(text).toBe(`${told.output_text}\n`);
  if (schema) expect(await validates(SCHEMA, told.result['output'] ?? null)).toBe(true);
  if (gate) expect(await validates(GATE, told.result['output'] ?? null)).toBe(true);
  const commands = task['verify'] as unknown[];
  const last = ofType(told.events, 'model_reply').at(-1)?.seq ?? 0;
  const passed = ofType(told.events, 'verify_end').filter((event) => event.seq > last && event.ok);
  expect(passed).toHaveLength(commands.length);
}

/** What holds for every run, whatever went wrong in it. */
function checkAlways({ task = {} }: Story, told: Told): void {
  const result = JSON.parse(told.artifact('result.json') ?? '') as Record<string, unknown>;
  expect(result).toMatchObject({ exit_code: told.exit_code, status: told.exit_code === 0 ? 'success' : 'failure' });
  expect(told.exit_code, told.message).not.toBe(1);
  expect(ofType(told.events, 'run_end')).toHaveLength(1);
  expect(told.events.at(-1)?.type).toBe('run_end');
  expect(openCalls(told.events.reduce(reduce, EMPTY_STATE))).toEqual([]);
  const { max_turns } = task['limits'] as { max_turns: number | null };
  expect(ofType(told.events, 'model_reply').length).toBeLessThanOrEqual(max_turns ?? Infinity);
}

async function checkStory(story: Story): Promise<void> {
  const { timeout } = (story.task ?? {})['limits'] as { timeout: string };
  const longest_ms = (parseDuration(timeout) ?? 0) + BEYOND_MS;
  const told = await Promise.race([tell(story), wait(longest_ms, undefined, { ref: false })]);
  if (!told) throw new Error(`the run has not ended ${longest_ms} ms after its start`);
  checkAlways(story, told);
  if (told.exit_code === 0) await checkSuccess(story, told);
  expect(await replay(told)).toMatchObject({ matches: true, divergence: null });
}

test(
  'a run never looks better than it was and always ends, whatever model, service and tools do',
  { timeout: RUNS * 7000 },
  async () => {
    await fc.assert(fc.asyncProperty(faultStory, checkStory), { numRuns: RUNS, endOnFailure: true });
    expect.hasAssertions();
  },
);
