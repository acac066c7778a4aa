// The text of a comment: marker, verdict, the task's template or ours, and the way to the run. Every value is escaped.

import type { CommentConfig, FindingsMap } from '../core/config.ts';
import type { RunName } from '../core/comment-names.ts';
import { showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import { missedFindings, readFindings } from '../core/findings.ts';
import type { JsonValue } from '../core/json.ts';
import { renderPage } from '../core/page-template.ts';
import { markdownCut, markdownText } from '../core/sanitise.ts';
import type { ResultFile } from '../run/result.ts';
import { headLine, placeText } from '../run/summary.ts';
import { markerLine, type Marker } from './marker.ts';

/** What GitHub takes, in characters. */
export const MAX_COMMENT = 65_536;

export interface BodyFacts {
  result: ResultFile;
  template: CommentConfig['template'];
  findings: FindingsMap | undefined;
  inputs: Readonly<Record<string, string>>;
  marker: Marker;
  /** Page of the workflow run; '' outside of one. */
  url: string;
  /** Id of the commit that was looked at; '' when nobody knows. */
  commit: string;
}

export type Body = { ok: true; text: string } | { ok: false; reason: string };

const BUILT_IN = `{% if findings %}{% if findings.size == 0 %}No findings.
{% else %}| Level | Where | What | Message |
| --- | --- | --- | --- |
{% for finding in findings limit: 100 %}| {{ finding.level }} | {{ finding.place }} | {{ finding.title }} | {{ finding.message }} |
{% endfor %}{% if findings.size > 100 %}
{{ findings.size | minus: 100 }} more findings are in the output.
{% endif %}{% endif %}{% elsif output %}{{ output | block }}
{% endif %}{% for issue in gate.issues limit: 20 %}
- {{ issue.pointer | code }} {{ issue.message }}{% endfor %}`;

/** The whole text, within what GitHub takes. A run without an output has the built-in text, since the task's own would have nothing to show. */
export async function commentBody(facts: BodyFacts): Promise<Body> {
  const { result, template, findings, marker, url } = facts;
  const own = hasOutput(result) ? template : null;
  const rendered = await renderPage(own ?? BUILT_IN, scopeOf(facts));
  if (!rendered.ok) {
    const { message, line, column } = rendered.error;
    return {
      ok: false,
      reason: `the comment's template cannot be rendered: ${message} (line ${line}, column ${column})`,
    };
  }
  // A template may say anything; how the run ended must stand above it unless all went well.
  const lost = findings && hasOutput(result) ? missedFindings(result.output, findings) : null;
  const isPlain = result.exit_code === 0 && result.limit_reached === null && lost === null;
  const head = own !== null && isPlain ? [] : [headLine(result, null)];
  const warning = lost === null ? [] : [`**Warning:** ${markdownText(lost)}`];
  const parts = [...head, ...warning, rendered.text.trim(), footer(facts)];
  const text = parts.filter((part) => part !== '').join('\n\n');
  const note = `*Cut here: a comment holds no more. The whole is in the summary and the files of ${runLink(url)}.*`;
  const room = MAX_COMMENT - markerLine(marker).length - 1;
  const lines =
    text.length > room ? text.replaceAll(/^(?!\|).*<br>.*$/gm, (line) => line.replaceAll('<br>', '<br>\n')) : text;
  return { ok: true, text: `${markerLine(marker)}\n${markdownCut(lines, room, note, (part) => part.length)}` };
}

function hasOutput({ artifacts, output }: ResultFile): boolean {
  return output !== null || artifacts['output'] !== undefined;
}

function runLink(url: string): string {
  return url === '' ? 'the run' : `[the run](${url})`;
}

function footer({ result: { usage, duration_ms }, url, commit }: BodyFacts): string {
  const tokens = `${showCount(usage.total_input_tokens)} tokens in, ${showCount(usage.total_output_tokens)} out`;
  const at = /^[0-9a-f]{40,64}$/.test(commit) ? [`commit ${commit.slice(0, 12)}`] : [];
  const parts = [
    runLink(url),
    ...at,
    showMany(usage.turns, 'turn'),
    tokens,
    showUsd(usage.cost_usd),
    showSpan(duration_ms),
  ];
  return `<sub>${parts.join(' · ')}</sub>`;
}

function scopeOf(facts: BodyFacts): Record<string, JsonValue> {
  const { result, findings: map, inputs } = facts;
  const findings = map && hasOutput(result) ? readFindings(result.output, map) : null;
  return {
    run: runValues(facts),
    output: result.output,
    findings: findings?.map((finding) => ({ ...finding, place: placeText(finding) })) ?? null,
    denials: result.denials.map(({ tool, rule, reason }) => ({ tool, rule, reason })),
    verify: result.verify.map(({ command, ok, exit_code, timed_out }) => ({ command, ok, exit_code, timed_out })),
    gate: result.gate && { ok: result.gate.ok, issues: result.gate.issues.map((issue) => ({ ...issue })) },
    warnings: result.warnings,
    inputs: { ...inputs },
  };
}

function runValues({ result, url, commit }: BodyFacts): Record<RunName, JsonValue> {
  const { usage } = result;
  return {
    task: result.task.name,
    status: result.status,
    exit_reason: result.exit_reason,
    exit_code: result.exit_code,
    message: result.message,
    limit_reached: result.limit_reached?.reason ?? null,
    turns: usage.turns,
    input_tokens: usage.total_input_tokens,
    output_tokens: usage.total_output_tokens,
    cost: showUsd(usage.cost_usd),
    duration: showSpan(result.duration_ms),
    model: result.model,
    url,
    commit,
  };
}
