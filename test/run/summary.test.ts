import { describe, expect, test } from 'vitest';
import { EMPTY_STATE } from '../../src/agent/state.ts';
import { buildResult } from '../../src/run/result.ts';
import { MAX_SUMMARY_BYTES, buildSummary } from '../../src/run/summary.ts';
import { createUsageMeter } from '../../src/subscribers/usage-meter.ts';
import { RUN_ID, runStart, taskConfig } from '../helpers/events.ts';
import type { FindingsMap } from '../../src/core/config.ts';
import type { ResultFile } from '../../src/run/result.ts';

const MAP: FindingsMap = {
  items: '/findings',
  path: '/file',
  line: '/line',
  end_line: '/end',
  level: '/level',
  message: '/text',
};
const LOUD = '<img src="https://evil.example/x">![x](https://evil.example/?k=1) @octocat [a](b) | ``` \u202e';

function resultWith(overrides: Partial<ResultFile> = {}): ResultFile {
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
    files: [],
    problems: [],
  });
  return { ...base, ...overrides };
}

const FAILED = { status: 'failure', exit_reason: 'max_turns', exit_code: 4, message: 'turn limit reached' } as const;

function summary(overrides: Partial<ResultFile> = {}, findings?: FindingsMap): string {
  return buildSummary(resultWith(overrides), { next: 'agent-run resume out', findings });
}

describe('the first line', () => {
  test('gives verdict, cause and what to type next', () => {
    expect(summary(FAILED).split('\n')[0]).toBe(
      String.raw`**pr\-review: failure** (${'`max_turns`'}, exit code 4): turn limit reached Next: ${'`agent-run resume out`'}`,
    );
  });

  test('of a success asks for nothing', () => {
    expect(summary().split('\n')[0]).toBe(String.raw`**pr\-review: success** (${'`completed`'}, exit code 0)`);
  });
});

describe('the output', () => {
  test('is shown as JSON in a fence that it cannot close', () => {
    const text = summary({ output: { a: '```\n# no' } });
    expect(text).toContain('## Output\n\n````json\n{\n  "a": "```\\n# no"\n}\n````');
  });

  test('is shown as the text it is, without being rendered', () => {
    expect(summary({ output: '# Hi\n* b' })).toContain('```\n# Hi\n* b\n```');
    const image = summary({ output: '# Hi\n![x](https://e.example)' });
    expect(image).toContain('<pre>\n# Hi\n!&#91;x](https://e.example)\n</pre>');
  });

  test('is a table where the task says where findings stand', () => {
    const output = { findings: [{ file: 'a.ts', line: 3, end: 5, level: 'error', text: 'x|y' }, { file: 'b.ts' }] };
    expect(summary({ output }, MAP)).toContain(
      [
        '## Findings (2)',
        '',
        '| Level | Where | What | Message |',
        '| --- | --- | --- | --- |',
        String.raw`| error | a.ts:3\-5 |  | x\|y |`,
        '| warning | b.ts |  |  |',
      ].join('\n'),
    );
  });

  test('without findings says so', () => {
    expect(summary({ output: { findings: [] } }, MAP)).toContain('## Findings\n\nNone.');
  });

  test('that was refused leaves its errors', () => {
    const output_errors = [{ pointer: '', message: 'must be object' }];
    expect(summary({ ...FAILED, output_errors })).toContain(
      '## Output errors\n\n| Where | What |\n| --- | --- |\n| \\(root\\) | must be object |',
    );
  });
});

test('usage, denials, warnings, verify and limits are told', () => {
  const text = summary({
    denials: [{ tool: 'bash', tool_use_id: 't', rule: null, reason: 'no rule', input_sha256: 'x' }],
    warnings: ['careful'],
    verify: [{ command: 'npm test', ok: false, exit_code: 1, timed_out: false, duration_ms: 150, output: 'FAIL x' }],
    gate: { ok: false, issues: [{ pointer: '/v', message: 'must be "ok"' }] },
  });
  for (const part of [
    '## Warnings\n\n- careful',
    '| 0 | 0 (retries: 0) | 0 (0 from the cache) |'.replaceAll(/[()]/g, String.raw`\$&`),
    '## Denied calls (1)\n\n| Tool | Rule | Why |\n| --- | --- | --- |\n| bash | none | no rule |',
    '| npm test | exit code 1 | 150 ms |',
    '```\nFAIL x\n```',
    '## Gate: failed\n\n| Where | What |\n| --- | --- |\n| /v | must be "ok" |',
    '- Limits: `max_turns 30, ',
    '- Sandbox: `sandbox: bubblewrap (bubblewrap 0.8)`',
  ]) {
    expect(text).toContain(part);
  }
});

test('a sandbox that is off is shown', () => {
  const runner = { ...runStart().runner, sandbox: { mode: 'off', active: 'none', detail: '' } as const };
  expect(summary({ runner })).toContain('`sandbox: off`');
});

test('emit: text of others is neither image nor link nor mention, wherever it stands', () => {
  const text = summary(
    {
      message: LOUD,
      status: 'failure',
      exit_code: 4,
      warnings: [LOUD],
      denials: [{ tool: LOUD, tool_use_id: '', rule: LOUD, reason: LOUD, input_sha256: '' }],
      output: { findings: [{ file: LOUD, text: LOUD, level: LOUD }] },
      gate: { ok: false, issues: [{ pointer: LOUD, message: LOUD }] },
    },
    MAP,
  );
  const outsideCode = text.replaceAll(/`[^`\n]*`/g, '');
  expect(outsideCode).not.toMatch(/<img|!\[x\]\(|\]\(b\)|@octocat/);
  expect(text).not.toContain('\u202e');
});

describe('B139: a page stays within what a step summary takes', () => {
  const many = Array.from({ length: 20_000 }, (_item, index) => ({ file: `f${index}`, text: 'x'.repeat(90) + 'ä' }));

  test('2 MB of output are cut with a pointer to the file, and usage and limits stay', () => {
    const text = summary({ output: { list: many }, artifacts: { output: 'output.json' } });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_SUMMARY_BYTES);
    expect(Buffer.byteLength(text)).toBeGreaterThan(MAX_SUMMARY_BYTES * 0.99);
    expect(text).toContain('*Cut here: the whole is in `output.json` of the run folder.*');
    expect(text).toContain('## Usage');
    expect(text.match(/^```/gm)).toHaveLength(2);
  });

  test('many findings are cut and counted', () => {
    const text = summary({ output: { findings: many } }, MAP);
    expect(text).toContain('## Findings (20,000)');
    expect(text).toContain('19,500 more findings in the output file.');
  });

  test('findings of any size stay within it', () => {
    const big = many.slice(0, 1000).map((item) => ({ ...item, text: '|'.repeat(50_000) }));
    expect(Buffer.byteLength(summary({ output: { findings: big } }, MAP))).toBeLessThanOrEqual(MAX_SUMMARY_BYTES);
  });

  test('what is already on the page counts', () => {
    const result = resultWith({ output: { list: many } });
    const text = buildSummary(result, { next: null, max_bytes: 5000 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(5000);
    expect(text).toContain('## Usage');
  });
});
