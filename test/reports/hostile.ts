// A run folder whose every text tries to be more than text.
import { resultFile, runStart, turnEvents, writeRun } from './run-folders.ts';
import type { EventBody } from '../../src/core/events.ts';
import type { RunResult } from '../../src/reports/run-result.ts';

/** Texts that a careless page would run, load, follow, or be broken by. */
export const HOSTILE = [
  '<script>window.pwned = 1</script>',
  '</script><script>window.pwned = 2</script>',
  '<!--<script>',
  ']]></script>',
  '<img src="http://127.0.0.1:9/beacon.png" onerror="window.pwned = 3">',
  '<svg onload="window.pwned = 4"><a xlink:href="javascript:window.pwned=5">x</a></svg>',
  '<style>@import url(http://127.0.0.1:9/style.css); body { display: none }</style>',
  '<b id="page-data">bold</b>',
  '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">',
  '<base href="http://127.0.0.1:9/">',
  '"><iframe srcdoc="<script>parent.pwned = 6</script>"></iframe>',
  "' onmouseover='window.pwned = 7",
  '[click](javascript:window.pwned=8) ![x](http://127.0.0.1:9/x.png) @everyone #1',
  'javascript:window.pwned=9',
  '\u001b[31mred\u001b[0m\u001b]8;;http://127.0.0.1:9/\u0007link\u001b]8;;\u0007',
  'user\u202etxt.exe\u202c \u2066isolated\u2069 zero\u200bwidth \u{e0041}tag',
  'lone \ud800 surrogate \udc00 halves',
  'line\u2028separator\u2029paragraph \u0000 nul \uffff',
  '::error::pwned\n::set-output name=x::y ##[error]pwned',
  '{{constructor.constructor("window.pwned = 10")()}} ${window.pwned = 11}',
  '__proto__',
  'constructor',
];

const LONG = `${'A'.repeat(300_000)}<script>window.pwned = 12</script>`;

/** Writes a run in which every field that a stranger chooses is hostile. */
export function hostileRun(folder: string, extra: readonly EventBody[] = []): string {
  const all = HOSTILE.join('\n');
  const at = (index: number): string => HOSTILE[index % HOSTILE.length] ?? '';
  const findings = HOSTILE.map((text, index) => ({
    file: text,
    line: index + 1,
    severity: at(index + 1),
    rule: at(index + 2),
    message: at(index + 3),
  }));
  const result = resultFile({
    status: 'failure',
    exit_reason: 'gate_failed',
    exit_code: 9,
    message: all,
    task: { name: at(0), file: at(1), sha256: at(2), ref: at(3) },
    output: { findings, [at(5)]: all },
    answers: [all],
    output_errors: [{ pointer: at(0), message: all }],
    denials: [
      { tool: at(0), tool_use_id: at(4), rule: at(5), reason: all, input_sha256: 'a' } as RunResult['denials'][number],
    ],
    warnings: [all],
    verify: [{ command: at(0), ok: false, exit_code: 1, timed_out: false, duration_ms: 1, output: all }],
    gate: { ok: false, issues: [{ pointer: at(1), message: all }] },
    context: [{ label: at(0), bytes: 1, omitted_bytes: 1, notes: [all] }],
    model: at(1),
    git: { head: at(0), branch: at(1), dirty: true },
    usage: { tools: { [at(0)]: { calls: 1, denied: 1, failed: 0, timed_out: 0, duration_ms: 1, bytes: 1 } } },
    runner: { version: at(0), node: at(1), platform: at(2), sandbox: { mode: 'auto', active: 'none', detail: all } },
  });
  const start = runStart(
    { name: at(0), inputs: { [at(1)]: all }, output: { repair_attempts: 1, schema: { title: all, type: 'object' } } },
    {
      context: [{ label: at(0), text: all, bytes: 1, omitted_bytes: 0, notes: [all] }],
      system: all,
      tools: [{ name: at(0), description: all, input_schema: { title: all } }],
    },
  );
  const calls = HOSTILE.map((text, index) => ({
    id: `${text}${index}`,
    name: at(index + 1),
    input: { [text === '__proto__' ? 'proto' : text]: all },
    output: text,
    verdict: index % 3 === 0 ? ('deny' as const) : ('allow' as const),
    reason: all,
  }));
  const events: EventBody[] = [
    start,
    { type: 'user_message', reason: 'prompt', content: [{ type: 'text', text: all }] },
    ...turnEvents(1, all, calls),
    ...turnEvents(2, LONG, [{ id: 'long', name: 'read_file', input: { path: LONG }, output: LONG }]),
    { type: 'notice', level: 'warning', code: at(0), message: all },
    ...extra,
    { type: 'run_end', outcome: { reason: 'completed' }, exit_code: 0, message: all },
  ];
  return writeRun(folder, { result, events });
}
