// What a report costs: `node bench/report.mjs [FOLDER]`. Writes runs of 1,000 turns, of 8 and of 55 MB, makes their pages
// with dist/cli.mjs, and opens them in Chromium. Goals: open within 2 s, scroll without long frames, memory that does not
// grow with the transcript. A measurement, not a test.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { writeSampleRun } from './sample-run.mjs';

const CLI = fileURLToPath(new URL('../dist/cli.mjs', import.meta.url));
const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const ROUNDS = 5;

/** Starts the command and says its peak memory, which only the command itself can know. */
const MEASURED = `process.on('exit', () => process.stderr.write('PEAK ' + process.resourceUsage().maxRSS + '\\n'));
process.argv.splice(1, 1); await import(process.argv[1]);`;

const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const median = (/** @type {number[]} */ values) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Runs in the page: through the whole timeline in steps of two windows. */
const SCROLL = `(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const began = performance.now();
  let frame_ms = 0;
  let rows = 0;
  for (let before = -1; before !== scrollY; ) {
    before = scrollY;
    const at = performance.now();
    scrollBy(0, 1800);
    await frame();
    frame_ms = Math.max(frame_ms, performance.now() - at);
    rows = Math.max(rows, document.querySelectorAll('.row').length);
  }
  return { scroll_ms: performance.now() - began, frame_ms, rows };
})()`;

const SEARCH = `(async () => {
  const began = performance.now();
  const box = document.querySelector('input[type=search]');
  box.value = 'no such text anywhere';
  box.dispatchEvent(new Event('input'));
  while (!/^0 of .* with/.test(document.querySelector('#timeline [role=status]').textContent))
    await new Promise((done) => setTimeout(done, 10));
  return performance.now() - began;
})()`;

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'agent-run-report-'));
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath: EXECUTABLE, args });
try {
  for (const output_bytes of [3000, 26_000]) await measure(output_bytes);
} finally {
  await browser.close();
  if (process.argv[2] === undefined) rmSync(folder, { recursive: true, force: true });
}

async function measure(/** @type {number} */ output_bytes) {
  const run = join(folder, `run-${output_bytes}`);
  const page = join(folder, `report-${output_bytes}.html`);
  writeSampleRun(run, { turns: 1000, output_bytes });
  const began = performance.now();
  const argv = ['--input-type=module', '-e', MEASURED, 'x', pathToFileURL(CLI).href, 'report', run, '--format', 'html'];
  const { stderr } = spawnSync(process.execPath, [...argv, '--out', page], { encoding: 'utf8' });
  const made = Math.round(performance.now() - began);
  const peak = Number(/PEAK (\d+)/.exec(stderr)?.[1]) * 1024;
  console.log(`transcript of ${megabytes(statSync(join(run, 'transcript.jsonl')).size)}, 1,000 turns`);
  console.log(
    `  page of ${megabytes(statSync(page).size)} made in ${made} ms with at most ${megabytes(peak)} of memory`,
  );
  const opened = [];
  for (let round = 0; round < ROUNDS; round += 1) opened.push(await open(page));
  console.log(
    `  opened in ${Math.round(median(opened.map(({ ms }) => ms)))} ms (median of ${ROUNDS}, until the overview is painted)`,
  );
  console.log(
    `  scrolled to its end in ${Math.round(median(opened.map(({ scroll_ms }) => scroll_ms)))} ms, longest frame ${Math.round(median(opened.map(({ frame_ms }) => frame_ms)))} ms, at most ${Math.max(...opened.map(({ rows }) => rows))} rows at a time`,
  );
  console.log(`  searched all texts in ${Math.round(median(opened.map(({ search_ms }) => search_ms)))} ms`);
}

async function open(/** @type {string} */ file) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  const began = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('h1');
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const ms = performance.now() - began;
  const scrolled = await page.evaluate(SCROLL);
  const search_ms = await page.evaluate(SEARCH);
  await page.close();
  return { ms, search_ms, ...scrolled };
}
