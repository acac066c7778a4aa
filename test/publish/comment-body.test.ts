import { describe, expect, test } from 'vitest';
import { EMPTY_STATE } from '../../src/agent/state.ts';
import { type BodyFacts, commentBody, MAX_COMMENT } from '../../src/publish/comment-body.ts';
import { isJsonObject } from '../../src/core/json.ts';
import { buildResult, type ResultFile } from '../../src/run/result.ts';
import { createUsageMeter } from '../../src/subscribers/usage-meter.ts';
import { RUN_ID, runStart, taskConfig } from '../helpers/events.ts';
import { HOSTILE, inMarkdown } from '../helpers/hostile-values.ts';

const MAP = { items: '/findings', path: '/file', line: '/line', level: '/level', title: '/rule', message: '/text' };
const MARKER = { task: 't', file: 'f', key: '', sticky: true, run: '1', attempt: 1, at: '', id: 'i' };

function resultWith(overrides: Partial<ResultFile>): ResultFile {
  const base = buildResult({
    run_id: RUN_ID,
    outcome: { reason: 'completed' },
    message: 'completed',
    state: EMPTY_STATE,
    task: taskConfig(),
    usage: createUsageMeter().report(),
    runner: runStart().runner,
    started_ms: 0,
    finished_ms: 0,
    files: ['output.json'],
    problems: [],
  });
  return { ...base, ...overrides };
}

async function body(result: Partial<ResultFile>, facts: Partial<BodyFacts> = {}): Promise<string> {
  const given = {
    template: null,
    // As of a task that maps them only where its output has them.
    findings: isJsonObject(result.output) && Object.hasOwn(result.output, 'findings') ? MAP : undefined,
    inputs: {},
    marker: MARKER,
    url: 'https://g.example/runs/1',
    commit: '',
  };
  const made = await commentBody({ result: resultWith(result), ...given, ...facts });
  return made.ok ? made.text.split('\n').slice(1).join('\n') : `not made: ${made.reason}`;
}

const FAILED = { status: 'failure', exit_reason: 'gate_failed', exit_code: 9, message: 'the gate says no' } as const;
const HEAD = String.raw`**pr\-review: failure** (${'`gate_failed`'}, exit code 9): the gate says no`;

describe('the built-in text', () => {
  test('is the verdict, the findings and the way to the run', async () => {
    const output = { findings: [{ file: 'a.ts', line: 3, level: 'error', rule: 'r', text: 'x|y' }, {}] };
    expect(await body({ output, ...FAILED }, { commit: 'c'.repeat(40) })).toBe(
      [
        HEAD,
        '',
        '| Level | Where | What | Message |',
        '| --- | --- | --- | --- |',
        String.raw`| error | a.ts:3 | r | x\|y |`,
        '| warning |  |  |  |',
        '',
        '<sub>[the run](https://g.example/runs/1) · commit cccccccccccc · 0 turns · 0 tokens in, 0 out · $0 · 0 ms</sub>',
      ].join('\n'),
    );
  });

  test('says when there is no finding, and how many are not shown', async () => {
    expect(await body({ output: { findings: [] } })).toContain('\n\nNo findings.\n');
    const many = Array.from({ length: 130 }, () => ({ text: 'm' }));
    const text = await body({ output: { findings: many } });
    expect(text.match(/^\| warning/gm)).toHaveLength(100);
    expect(text).toContain('\n30 more findings are in the output.\n');
  });

  test('shows another output as it is, and what the gate says of it', async () => {
    const gate = { ok: false, issues: [{ pointer: '/a', message: 'must be "yes"' }] };
    const text = await body({ output: { a: 'no' }, gate, ...FAILED }, { findings: undefined });
    expect(text).toContain('```\n{\n  "a": "no"\n}\n```');
    expect(text).toContain('- `/a` must be "yes"');
  });
});

describe("a task's template", () => {
  const template = '{{ output.note }} by {{ inputs.who }}: {% for f in findings %}{{ f.place | code }} {% endfor %}';
  const output = { note: '*hi*', findings: [{ file: 'a.ts', line: 1 }] };
  const inputs = { who: '@ada' };

  test('is all there is above the last line when all went well', async () => {
    const text = await body({ output }, { template, inputs });
    expect(text.split('\n\n')).toEqual([
      String.raw`\*hi\* by @&#8203;ada: ${'`a.ts:1`'}`,
      expect.stringMatching(/^<sub>/),
    ]);
  });

  test('stands below the verdict when the run failed, or a limit ended it early', async () => {
    expect((await body({ output, ...FAILED }, { template, inputs })).split('\n')[0]).toBe(HEAD);
    const limit_reached = { reason: 'max_turns', limit: 1, used: 1 } as const;
    expect(await body({ output, limit_reached }, { template, inputs })).toMatch(/^\*\*pr\\-review: success\*\*/);
  });

  test('is not used without an output: it could only speak of what is not there', async () => {
    const text = await body({ output: null, artifacts: {}, ...FAILED }, { template: 'All is well.' });
    expect(text).not.toContain('All is well.');
    expect(text.split('\n')[0]).toBe(HEAD);
  });

  test('that cannot be rendered is a reason and no comment', async () => {
    const text = await body(
      { output: {} },
      { template: '{{ "x" | times: output }}{% for a in (1..1000000000) %}{% endfor %}' },
    );
    expect(text).toMatch(/^not made: the comment's template cannot be rendered: .*line 1/);
  });

  test.each(HOSTILE)('shows %s as text', async (_what, value) => {
    const text = await body({ output: { x: value } }, { template: '{{ output.x }}' });
    expect(text.split('\n\n<sub>')[0]).toBe(inMarkdown(value));
  });
});

describe('a text above the limit', () => {
  const parts = [
    ['a block', '{{ output | block }}', 'line\n'.repeat(30_000)],
    ['a paragraph', '{{ output }}', 'line\n'.repeat(30_000)],
    ['letters of two units', '{{ output | block }}', '😀\n'.repeat(30_000)],
    ['markup', '{{ output | block }}', '<b>x</b>\n'.repeat(30_000)],
    ['one line', '{{ output }}', 'x'.repeat(100_000)],
  ] as const;

  test.each(parts)('of %s is cut, closed and says so', async (_what, template, output) => {
    const made = await body({ output, ...FAILED }, { template, findings: undefined });
    expect(made.length).toBeLessThanOrEqual(MAX_COMMENT);
    expect(made.split('\n')[0]).toBe(HEAD);
    expect(made).toContain(
      '*Cut here: a comment holds no more. The whole is in the summary and the files of [the run](https',
    );
    expect((made.match(/^```|^<pre>|^<\/pre>/gm) ?? []).length % 2).toBe(0);
  });
});

test.each([null, 'All clear.'])('a list that is not there is said above the template %j', async (template) => {
  const text = await body({ output: { findings: {} } }, { template });
  expect(text).toMatch(/^\*\*pr\\-review: success\*\*.*\n\n\*\*Warning:\*\* findings\.items: .*names an object/);
  expect(text).not.toContain('No findings.');
});
