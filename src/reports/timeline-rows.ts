// One function for each kind of event: what it adds to the timeline. Fields are read as a stranger may have written them.

import { showBytes } from '../core/figures.ts';
import { fieldOf, listField, numberField, objectField, textField } from './fields.ts';
import { FIXED_GROUP } from './carried.ts';
import { replyRow } from './timeline-reply.ts';
import { toolEndRow } from './timeline-call.ts';
import { blocksText, lineText } from './shown-text.ts';
import { spanOf, type Timeline } from './timeline.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type { Tone } from './page-data.ts';

type Row = (timeline: Timeline, event: JsonObject) => void;

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** A row that is an event of the run itself. */
function event(title: string, tone: Tone, summary: string, meta = '') {
  return { kind: 'event', tone, title, badge: '', summary: lineText(summary), meta } as const;
}

function startRow(timeline: Timeline, start: JsonObject): void {
  const task = objectField(start, 'task');
  const system = textField(start, 'system');
  const tools = JSON.stringify(listField(start, 'tools'), null, 2);
  const context = listField(start, 'context').map(
    (part) => [lineText(textField(part, 'label'), 80), textField(part, 'text')] as const,
  );
  const schema = fieldOf(fieldOf(task, 'output'), 'schema');
  timeline.schema = schema === undefined ? null : timeline.body(JSON.stringify(schema, null, 2));
  const entry = timeline.add(event('Run started', 'plain', textField(task, 'name')), [
    ['System prompt', timeline.body(system)],
    ['Tools', timeline.body(tools)],
    ...context.map(([label, text]) => [`Context: ${label}`, timeline.body(text)] as const),
    ['Task', timeline.body(JSON.stringify(task ?? null, null, 2))],
  ]);
  timeline.carried.add({ group: FIXED_GROUP, label: 'system prompt', bytes: bytesOf(system), entry });
  timeline.carried.add({ group: FIXED_GROUP, label: 'tools', bytes: bytesOf(tools), entry });
}

const MESSAGE_TITLES: Record<string, string> = {
  prompt: 'Prompt',
  next_prompt: 'Next prompt',
  limit_reminder: 'Reminder: a limit is near',
  output_repair: 'Output refused',
  output_missing: 'Output missing',
  empty_reply: 'Empty reply',
  verify_feedback: 'Verify failed',
  compaction_request: 'Summary asked for',
  follow_up: 'Follow-up',
};

function messageRow(timeline: Timeline, message: JsonObject): void {
  const reason = textField(message, 'reason');
  const title = Object.hasOwn(MESSAGE_TITLES, reason) ? (MESSAGE_TITLES[reason] ?? reason) : lineText(reason, 60);
  const text = blocksText(listField(message, 'content'));
  const tone = reason === 'prompt' || reason === 'next_prompt' || reason === 'follow_up' ? 'plain' : 'warn';
  const row = {
    kind: 'message',
    tone,
    title,
    badge: '',
    summary: lineText(text),
    meta: showBytes(bytesOf(text)),
  } as const;
  const entry = timeline.add(row, [['Text', timeline.body(text)]]);
  const group = reason === 'prompt' ? 'first message' : 'messages';
  timeline.carried.add({ group, label: title, bytes: bytesOf(text), entry });
}

function attemptRow(timeline: Timeline, attempt: JsonObject): void {
  const [number, most] = [numberField(attempt, 'attempt') ?? 0, numberField(attempt, 'max_attempts') ?? 0];
  const status = numberField(attempt, 'status');
  const title = `Request failed (${number} of ${most})`;
  const message = textField(attempt, 'message');
  timeline.add(event(title, 'warn', message, status === null ? '' : `status ${status}`), [
    ['Message', timeline.body(message)],
  ]);
}

function verdictRow({ calls, open }: Timeline, judged: JsonObject): void {
  const id = textField(judged, 'tool_use_id');
  const before = calls.get(id) ?? { name: textField(judged, 'name'), summary: '', input: null };
  const [verdict, rule, reason] = [
    textField(judged, 'verdict'),
    textField(judged, 'rule'),
    textField(judged, 'reason'),
  ];
  open(id, {
    ...before,
    name: lineText(before.name, 80),
    verdict,
    rule: lineText(rule),
    reason: lineText(reason, 400),
  });
}

function checkRow(timeline: Timeline, check: JsonObject): void {
  const ok = fieldOf(check, 'ok') === true;
  const title = textField(check, 'stage') === 'gate' ? 'Gate' : 'Output checked';
  const issues = listField(check, 'issues').map(
    (issue) => `${textField(issue, 'pointer') || '(root)'}: ${textField(issue, 'message')}`,
  );
  const summary = ok ? 'valid' : `${textField(check, 'kind')}: ${issues[0] ?? ''}`;
  timeline.add(event(title, ok ? 'good' : 'bad', summary), [
    ['Issues', timeline.body(issues.join('\n'))],
    ['Output', timeline.body(textField(check, 'value_text'))],
  ]);
}

function verifyRow(timeline: Timeline, verify: JsonObject): void {
  const ok = fieldOf(verify, 'ok') === true;
  const code = numberField(verify, 'exit_code');
  const ending = fieldOf(verify, 'timed_out') === true ? 'timed out' : `exit code ${code ?? 'none'}`;
  const row = event(
    'Verify',
    ok ? 'good' : 'bad',
    textField(verify, 'command'),
    [ending, spanOf(verify)].filter(Boolean).join(' · '),
  );
  timeline.add(row, [['Output', timeline.body(textField(verify, 'output'))]]);
}

function compactedRow(timeline: Timeline, compacted: JsonObject): void {
  const text = blocksText([...listField(compacted, 'blocks'), ...listField(compacted, 'summary')]);
  const entry = timeline.add(event('History replaced by a summary', 'warn', text, showBytes(bytesOf(text))), [
    ['Summary', timeline.body(text)],
  ]);
  timeline.carried.forget();
  timeline.carried.add({ group: 'messages', label: 'summary of the history', bytes: bytesOf(text), entry });
}

function noticeRow(timeline: Timeline, notice: JsonObject): void {
  const level = textField(notice, 'level');
  const tone = level === 'error' ? 'bad' : level === 'warning' ? 'warn' : 'plain';
  const message = textField(notice, 'message');
  timeline.add(event(`Notice: ${lineText(textField(notice, 'code'), 60)}`, tone, message), [
    ['Message', timeline.body(message)],
  ]);
}

function endRow(timeline: Timeline, end: JsonObject): void {
  const code = numberField(end, 'exit_code');
  const reason = textField(fieldOf(end, 'outcome'), 'reason');
  const title = `Run ended: ${lineText(reason, 60)} (${code ?? 'no exit code'})`;
  timeline.add(event(title, code === 0 ? 'good' : 'bad', textField(end, 'message')), [
    ['Message', timeline.body(textField(end, 'message'))],
  ]);
}

function textRow(title: string, tone: Tone, text: (value: JsonValue) => string): Row {
  return (timeline, value) => {
    timeline.add(event(title, tone, text(value)), [['Text', timeline.body(text(value))]]);
  };
}

/** By type of event. `turn_start` only counts, `tool_start` and `turn_end` say nothing that others do not. */
export const EVENT_ROWS: Record<string, Row> = {
  run_start: startRow,
  run_resume: textRow('Run resumed', 'plain', (value) => textField(value, 'prompt', 'goes on')),
  turn_start: (timeline) => timeline.carried.turn(),
  attempt: attemptRow,
  model_reply: replyRow,
  model_failed: textRow('No reply', 'bad', (value) => `${textField(value, 'kind')}: ${textField(value, 'message')}`),
  policy_verdict: verdictRow,
  tool_end: toolEndRow,
  user_message: messageRow,
  output_checked: checkRow,
  verify_end: verifyRow,
  compacted: compactedRow,
  notice: noticeRow,
  run_end: endRow,
};
