import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { showMany, showUsd } from '../core/figures.ts';
import { jsonForCi } from '../core/sanitise.ts';
import script from './page/main.ts?bundle';
import style from './page/page.css?bundle';
import { createChunks } from './chunks.ts';
import { lineText } from './shown-text.ts';
import { pageRun } from './page-run.ts';
import { readTimeline } from './read-timeline.ts';
import { TRANSCRIPT_FILE } from './run-record.ts';
import { createTimeline } from './timeline.ts';
import { totalsOf } from './totals.ts';
import type { Collection } from './collect.ts';
import type { PageData, PageRun } from './page-data.ts';

/**
 * One page that holds everything and asks for nothing: texts stand in data blocks that no browser runs, our own script
 * and style are named by their hashes, and the policy refuses everything else. Pieces come while transcripts are read.
 */
export async function* htmlReport(collection: Collection): AsyncGenerator<string, void> {
  const title = titleOf(collection);
  yield headOf(title);
  const chunks = createChunks();
  const runs: PageRun[] = [];
  for (const record of collection.runs) {
    const timeline = createTimeline(chunks);
    const problems: string[] = [];
    if (record.has_transcript) {
      const reading = readTimeline(timeline, join(record.run_dir, TRANSCRIPT_FILE));
      let step = await reading.next();
      for (; step.done !== true; step = await reading.next()) yield* chunks.drain();
      problems.push(...step.value);
    }
    // What only reading to the end can tell counts like what was known before.
    const fresh = problems.filter((problem) => !record.problems.includes(problem));
    record.problems.push(...fresh);
    collection.problems.push(...fresh);
    runs.push(pageRun(record, timeline, chunks));
    yield* chunks.drain();
  }
  yield* chunks.drain(true);
  yield tailOf({ title, subtitle: subtitleOf(collection), runs, problems: problemsOf(collection, chunks.left_out()) });
}

function titleOf({ runs }: Collection): string {
  const [first] = runs;
  return runs.length === 1 && first ? lineText(first.task, 200) : showMany(runs.length, 'run');
}

function subtitleOf(collection: Collection): string {
  const { success, failure, cancelled, exit_code, cost_usd } = totalsOf(collection);
  const unfinished = collection.runs.filter(({ result }) => result === null).length;
  const counts = Object.entries({ success, failure, cancelled, unfinished }).filter(([, count]) => count > 0);
  return [...counts.map(([name, count]) => `${count} ${name}`), `worst exit code ${exit_code}`, showUsd(cost_usd)].join(
    ' · ',
  );
}

function problemsOf({ problems, runs, not_started }: Collection, left_out: number): string[] {
  const own = new Set(runs.flatMap((run) => run.problems));
  const rest = problems.filter((problem) => !own.has(problem));
  const begun = not_started.map(({ task, reason, message }) => `${task} was not started (${reason}): ${message}`);
  const full = left_out > 0 ? [`the page is full: ${left_out} texts of calls and turns are left out of it`] : [];
  return [...rest, ...begun, ...full].map((problem) => lineText(problem, 1000));
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function headOf(title: string): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)} - agent-run</title>
<style>${style}</style>
</head>
<body>
<div id="app"><p class="loading">Reading the report…</p></div>
<noscript><p class="loading">This page shows its data with a script of its own; the run folder has the same in summary.md and result.json.</p></noscript>
`;
}

function tailOf(data: PageData): string {
  return `<script type="application/json" id="page-data">${dataBlock(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** JSON that can stand in a script element: no `<`, and nothing that a CI system or an old parser takes for a line's end. */
function dataBlock(data: PageData): string {
  const json = JSON.stringify(data, (_key, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item));
  return jsonForCi(json).replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"':#]/g, (character) => `&#${character.charCodeAt(0)};`);
}
