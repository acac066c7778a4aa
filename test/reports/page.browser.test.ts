import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeSampleRun } from '../../bench/sample-run.mjs';
import { collect } from '../../src/reports/collect.ts';
import { renderReport } from '../../src/reports/render.ts';
import { CHROMIUM, type Look, type Opened, useChromium } from '../helpers/chromium.ts';
import { tempFolder } from '../helpers/temp.ts';
import { writeRun } from './run-folders.ts';

/** Writes the page of these run folders and answers with its path. */
async function pageOf(folders: readonly string[], merge = false): Promise<string> {
  const file = join(tempFolder(), 'report.html');
  const pieces: string[] = [];
  for await (const piece of renderReport(await collect(folders, merge), 'html')) pieces.push(piece);
  writeFileSync(file, pieces.join(''));
  return file;
}

describe.skipIf(CHROMIUM === undefined)('the page of a report, needs Chromium', () => {
  const browser = useChromium();

  async function sample(
    options: { turns: number; failing?: boolean; output_bytes?: number },
    look: Look = {},
  ): Promise<Opened> {
    const folder = join(tempFolder(), 'run');
    writeSampleRun(folder, options);
    return browser.open(await pageOf([folder]), look);
  }

  async function rows({ page }: Opened): Promise<string[]> {
    await page.locator('#timeline').scrollIntoViewIfNeeded();
    await page.waitForSelector('.row');
    return page.locator('.row .title').allTextContents();
  }

  test('says how the run ended, what it found, what it used and where its tokens went', async () => {
    const opened = await sample({ turns: 12, failing: true });
    const text = await opened.page.locator('#run').innerText();
    for (const part of [
      'pr-review',
      'failure',
      'verify_failed',
      'exit code 8',
      'token-compare',
      'Where the tokens went',
    ])
      expect(text).toContain(part);
    expect(await opened.page.locator('svg').count()).toBe(2);
    expect({ left: opened.left, said: opened.said }).toEqual({ left: [], said: [] });
  });

  test('opens a call with its verdict, input and output', async () => {
    const opened = await sample({ turns: 6 });
    await rows(opened);
    const call = opened.page.locator('.row.call', { hasText: 'curl https://example.org' });
    expect(await call.locator('.badge').textContent()).toBe('denied');
    await call.locator('button').click();
    await expect
      .poll(() => call.locator('pre').allTextContents())
      .toEqual([
        'deny\nwhy: no rule allows "curl https://example.org"',
        'command: curl https://example.org',
        'Denied: no rule allows "curl https://example.org". Allowed: git log *.',
      ]);
  });

  test('shows the output beside its schema', async () => {
    const { page } = await sample({ turns: 3 });
    await expect.poll(() => page.locator('#output pre').first().textContent()).toContain('"findings"');
    await expect.poll(() => page.locator('#output pre').last().textContent()).toContain('"required"');
  });

  test('finds a text that stands only inside an output, and filters', async () => {
    const opened = await sample({ turns: 40 });
    await rows(opened);
    await opened.page.getByRole('searchbox').fill("-17'");
    await expect
      .poll(() => opened.page.locator('#timeline [role=status]').textContent())
      .toMatch(/^[1-3] of \d+ rows with/);
    await opened.page.getByRole('searchbox').fill('');
    await opened.page.getByRole('combobox').selectOption('denied calls');
    await expect
      .poll(() => opened.page.locator('.row .badge').allTextContents())
      .toEqual(['denied', 'denied', 'denied']);
  });

  test('goes by keyboard: a skip link, a key for the search, arrows over rows, Enter opens one', async () => {
    const opened = await sample({ turns: 6 });
    const { page } = opened;
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the timeline');
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement?.getAttribute("type")')).toBe('search');
    await rows(opened);
    await page.locator('.row-head').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.locator('.row-head').nth(1).getAttribute('aria-expanded')).toBe('true');
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
  });

  test('goes from a chart and from a heavy text to its row', async () => {
    const { page } = await sample({ turns: 30 });
    await page.locator('svg').first().focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toContain('Turn 2');
    await page.locator('#tokens td .link').first().click();
    await expect.poll(() => page.locator('.row-head:focus').getAttribute('aria-expanded')).toBe('true');
  });

  test.each([360, 1200])('needs no sideways scrolling at %i pixels, rows and texts open', async (width) => {
    const opened = await sample({ turns: 9, failing: true }, { width });
    await rows(opened);
    for (const at of [1, 2, 3]) await opened.page.locator('.row-head').nth(at).click();
    expect(await opened.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  });

  test('is dark where the system is, and turns around on request', async () => {
    const { page } = await sample({ turns: 2 }, { dark: true });
    const back = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const dark = await back();
    await page.getByRole('button', { name: 'Light or dark' }).click();
    expect([dark, await back()]).toEqual(['rgb(20, 23, 26)', 'rgb(251, 251, 250)']);
  });

  test('shows several runs in one table and one of them below', async () => {
    const root = tempFolder();
    writeSampleRun(join(root, 'a'), { turns: 3, run_id: 'a', task: 'first' });
    writeSampleRun(join(root, 'b'), { turns: 4, run_id: 'b', task: 'second', failing: true });
    writeRun(join(root, 'c'), { result: null, run_id: 'c' });
    const { page } = await browser.open(await pageOf([root], true));
    expect(await page.locator('.runs .verdict').allInnerTexts()).toEqual(['✓ success', '✕ failure', '… unfinished']);
    await page.getByRole('button', { name: 'second' }).click();
    expect(await page.locator('h1').textContent()).toBe('second');
    await page.getByRole('button', { name: 'pr-review' }).click();
    expect(await page.locator('#notes').innerText()).toContain('the run was killed or is still going');
    await page.setViewportSize({ width: 360, height: 780 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  test('says what could not be reported', async () => {
    const folder = writeRun(join(tempFolder(), 'run'));
    const { page } = await browser.open(await pageOf([folder, join(tempFolder(), 'nowhere')]));
    expect(await page.getByRole('alert').innerText()).toContain('there is no run folder');
  });

  test('of a transcript of 50 MB opens and finds what stands in one of its texts', async () => {
    const opened = await sample({ turns: 1000, output_bytes: 26_000 });
    expect(opened.ms).toBeLessThan(15_000);
    await rows(opened);
    await opened.page.getByRole('searchbox').fill("-997'");
    const status = opened.page.locator('#timeline [role=status]');
    await expect.poll(() => status.textContent(), { timeout: 15_000 }).toMatch(/^[1-3] of \d,\d+ rows with/);
  });

  // The limits are against a page that hangs; bench/report.mjs measures.
  test('of a thousand turns opens, scrolls to its end and keeps few rows', async () => {
    const opened = await sample({ turns: 1000 });
    expect(opened.ms).toBeLessThan(10_000);
    await rows(opened);
    await opened.page.keyboard.press('End');
    await opened.page.locator('.row', { hasText: 'Run ended' }).waitFor();
    expect(await opened.page.locator('.row').count()).toBeLessThan(400);
  });
});
