import { showBytes } from '../core/figures.ts';
import { listField, numberField, textField } from './fields.ts';
import { blocksText, lineText } from './shown-text.ts';
import { spanOf, type OpenCall, type Timeline } from './timeline.ts';
import type { JsonObject } from '../core/json.ts';
import type { Tone } from './page-data.ts';

const UNKNOWN: OpenCall = { name: '', summary: '', input: null, verdict: '', rule: '', reason: '' };

/** The end of a call: a row with input, output, verdict and time. */
export function toolEndRow(timeline: Timeline, end: JsonObject): void {
  const id = textField(end, 'tool_use_id');
  const call = timeline.close(id) ?? UNKNOWN;
  const name = call.name || lineText(textField(end, 'name'), 80);
  const status = textField(end, 'status');
  const output = blocksText(listField(end, 'content'));
  const bytes = numberField(end, 'bytes') ?? 0;
  const title = name || 'call';
  const meta = [spanOf(end), showBytes(bytes)].filter((part) => part !== '').join(' · ');
  const entry = timeline.add(
    { kind: 'call', tone: toneOf(status), title, badge: badgeOf(status), summary: call.summary, meta },
    [
      ['Verdict', timeline.body(verdictText(call, status))],
      ['Input', call.input],
      [outputLabel(end), timeline.body(output)],
    ],
  );
  if (status === 'denied' && entry >= 0) timeline.denied.set(id, entry);
  const label = `${title} ${call.summary}`.trim();
  timeline.carried.add({ group: title, label: lineText(label, 100), bytes: Buffer.byteLength(output), entry });
}

function toneOf(status: string): Tone {
  if (status === 'ok') return 'good';
  return status === 'error' ? 'warn' : 'bad';
}

function badgeOf(status: string): string {
  return status === 'ok' ? '' : lineText(status.replaceAll('_', ' '), 40);
}

function verdictText({ verdict, rule, reason }: OpenCall, status: string): string {
  const judged = verdict === '' ? `not judged (${status})` : verdict;
  return [judged, ...(rule === '' ? [] : [`rule: ${rule}`]), ...(reason === '' ? [] : [`why: ${reason}`])].join('\n');
}

function outputLabel(end: JsonObject): string {
  const file = textField(end, 'output_file');
  if (file !== '') return `Output, cut; the whole is in ${lineText(file, 100)}`;
  return textField(end, 'reused_from') === '' ? 'Output' : 'Output, taken over from the same call before';
}
