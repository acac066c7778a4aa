import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { collect } from '../../src/reports/collect.ts';
import { renderReport } from '../../src/reports/render.ts';
import { MAX_ENTRIES } from '../../src/reports/timeline.ts';
import { tempFolder } from '../helpers/temp.ts';
import { resultFile, RUN_END, runStart, turnEvents, writeRun } from './run-folders.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { PageData, PageRun } from '../../src/reports/page-data.ts';

interface Page {
  data: PageData;
  run: PageRun;
  problems: string[];
  /** The text of a row's body by its label. */
  body: (row: number, label: string) => string | undefined;
}

async function pageOf(folder: string): Promise<Page> {
  const collection = await collect([folder], false);
  let html = '';
  for await (const piece of renderReport(collection, 'html')) html += piece;
  const text = /<script type="application\/json" id="page-data">(.*)<\/script>/.exec(html)?.[1] ?? '';
  const data = JSON.parse(text) as PageData;
  const [run] = data.runs;
  if (!run) throw new Error('the page has no run');
  const chunks = [...html.matchAll(/id="chunk-\d+">([^<]*)</g)].map(
    ([, packed = '']) => JSON.parse(inflateRawSync(Buffer.from(packed, 'base64')).toString()) as string[],
  );
  const body = (row: number, label: string): string | undefined => {
    const [, at] = run.entries[row]?.bodies.find(([name]) => name === label) ?? [];
    return at && chunks[at[0]]?.[at[1]];
  };
  return { data, run, problems: collection.problems, body };
}

const fresh = (): string => join(tempFolder(), 'r');
const read = { id: 'a', name: 'read_file', input: { path: 'src/a.ts' }, output: 'x'.repeat(400) };

describe('the data of a page', () => {
  test('has a row for each turn, call, message and event, with its texts', async () => {
    const denied = {
      id: 'b',
      name: 'bash',
      input: { command: 'rm -rf /' },
      output: 'Denied.',
      verdict: 'deny',
      reason: 'no rule',
    } as const;
    const prompt: EventBody = { type: 'user_message', reason: 'prompt', content: [{ type: 'text', text: 'Review.' }] };
    const events = [
      runStart(),
      prompt,
      ...turnEvents(1, 'I look.', [read, denied]),
      ...turnEvents(2, 'Done.'),
      RUN_END,
    ];
    const { run, body } = await pageOf(writeRun(fresh(), { events }));
    expect(run.entries.map(({ title, badge }) => `${title} ${badge}`.trim())).toEqual([
      'Run started',
      'Prompt',
      'Turn 1',
      'read_file',
      'bash denied',
      'Turn 2',
      'Run ended: completed (0)',
    ]);
    expect(body(3, 'Input')).toBe('path: src/a.ts');
    expect(body(3, 'Output')).toBe(read.output);
    expect(body(4, 'Verdict')).toBe('deny\nwhy: no rule');
    expect(run.turns.map(({ prompt_tokens, cost_usd }) => [prompt_tokens, cost_usd])).toEqual([
      [1000, 0.004],
      [1200, 0.004],
    ]);
  });

  test('weighs each text by the requests that carried it, until the history is replaced', async () => {
    const compacted: EventBody = {
      type: 'compacted',
      summary: [{ type: 'text', text: 'short' }],
      usage: {} as never,
      cost_usd: 0,
    };
    const later = [2, 3].flatMap((turn) => turnEvents(turn, 'more'));
    const events = [
      runStart(),
      ...turnEvents(1, 'I look.', [read]),
      ...later,
      compacted,
      ...turnEvents(4, 'end'),
      RUN_END,
    ];
    const { run } = await pageOf(writeRun(fresh(), { events }));
    const carried = Object.fromEntries(run.carried.map(({ label, bytes, turns }) => [label, [bytes, turns]]));
    expect(carried).toMatchObject({
      'read_file path: src/a.ts': [400, 2],
      'system prompt': [11, 4],
      'summary of the history': [5, 1],
    });
  });

  test('shows a call that nothing answered, as a killed run leaves it', async () => {
    const events = [runStart(), ...turnEvents(1, 'I look.', [read]).slice(0, 2)];
    const { run } = await pageOf(writeRun(fresh(), { result: null, events }));
    expect(run.status).toBe('unfinished');
    expect(run.entries.at(-1)).toMatchObject({ title: 'read_file', badge: 'no answer', tone: 'warn' });
  });

  test('cuts a long text and says where the whole stands', async () => {
    const events = [runStart(), ...turnEvents(1, 'I look.', [{ ...read, output: 'y'.repeat(600_000) }]), RUN_END];
    const { body } = await pageOf(writeRun(fresh(), { events }));
    expect(body(2, 'Output')).toMatch(
      /^y+\n\[… 337856 bytes left out; the whole is in line 6 of transcript\.jsonl …\]\ny+$/,
    );
  });

  test('leaves out lines that cannot be read, says so and counts them as problems', async () => {
    const folder = writeRun(fresh());
    appendFileSync(
      join(folder, 'transcript.jsonl'),
      `no json\n{"type":"notice","__proto__":{}}\n[]\n{"type":"unknown"}\n{"to`,
    );
    const { run, problems } = await pageOf(folder);
    expect(problems).toEqual([
      expect.stringMatching(/transcript\.jsonl:3: not a line of a transcript/),
      expect.stringMatching(/:4: .*"__proto__" is not allowed/),
      expect.stringMatching(/:5: .*"type" is missing/),
      expect.stringMatching(/:7: the last line is cut off/),
    ]);
    expect(run.notes.find(({ title }) => title === 'Not readable')?.lines).toEqual(problems);
  });

  test.each([
    ['success', {}, { title: 'Verify failed before it passed', tone: 'warn' }],
    ['failure', { exit_reason: 'verify_failed', exit_code: 8 }, { title: 'Verify failed', tone: 'bad' }],
  ] as const)(
    'tells a verify command that failed on the way from one that ended the run: %s',
    async (status, ending, note) => {
      const once = { command: 'npm test', ok: false, exit_code: 1, timed_out: false, duration_ms: 1, output: 'x' };
      const result = resultFile({ status, ...ending, verify: [once] });
      const { run } = await pageOf(writeRun(fresh(), { result }));
      expect(run.notes).toContainEqual(expect.objectContaining(note));
    },
  );

  test('keeps a bounded number of rows and says how many it leaves out', async () => {
    const notice: EventBody = { type: 'notice', level: 'info', code: 'c', message: 'm' };
    const events = [runStart(), ...Array.from({ length: MAX_ENTRIES + 4 }, () => notice)];
    const { run, problems } = await pageOf(writeRun(fresh(), { events }));
    expect(run.entries).toHaveLength(MAX_ENTRIES);
    expect(problems).toEqual([expect.stringMatching(/more events than a page shows; 5 rows are left out$/)]);
  });

  test('survives events whose fields are of every other type', async () => {
    const types = ['run_start', 'turn_start', 'attempt', 'model_reply', 'policy_verdict', 'tool_end', 'user_message', 'output_checked', 'verify_end', 'compacted', 'notice', 'run_end', '__proto__', 'constructor']; // prettier-ignore
    const strange = [null, 3, -1, 1e400, 'text', [], [null, 'x', {}], {}, { a: { b: [1] } }, true];
    const fields = ['content', 'usage', 'turn', 'task', 'system', 'tools', 'context', 'issues', 'outcome', 'duration_ms', 'time', 'tool_use_id', 'bytes', 'blocks', 'summary', 'cost_usd']; // prettier-ignore
    const lines = types.flatMap((type) =>
      strange.map((value) => JSON.stringify({ type, ...Object.fromEntries(fields.map((field) => [field, value])) })),
    );
    const start = JSON.stringify({ type: 'run_start', transcript_version: 1, run_id: 'x' });
    const { run } = await pageOf(
      writeRun(fresh(), { events: `${[start, ...lines].join('\n')}\n`, result: resultFile() }),
    );
    expect(run.entries.length).toBeGreaterThan(90);
  });
});
