// Pictures of the page for people to look at; CI keeps them.
import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { writeSampleRun } from '../../bench/sample-run.mjs';
import { collect } from '../../src/reports/collect.ts';
import { renderReport } from '../../src/reports/render.ts';
import { CHROMIUM, type Look, useChromium } from '../helpers/chromium.ts';
import { tempFolder } from '../helpers/temp.ts';

const ARTIFACTS = fileURLToPath(new URL('../../artifacts/', import.meta.url));

describe.skipIf(CHROMIUM === undefined)('pictures of the page, needs Chromium', () => {
  const browser = useChromium();

  async function page(folders: readonly string[]): Promise<string> {
    const file = join(tempFolder(), 'report.html');
    const pieces: string[] = [];
    for await (const piece of renderReport(await collect(folders, true), 'html')) pieces.push(piece);
    writeFileSync(file, pieces.join(''));
    return file;
  }

  function shards(): string[] {
    const root = tempFolder();
    return [1, 2, 3].map((shard) => {
      const folder = join(root, `shard-${shard}`);
      const task = ['pr-review', 'fix-tests', 'release-notes'][shard - 1] ?? '';
      writeSampleRun(folder, { turns: 8 * shard, run_id: `run-${shard}`, task, failing: shard === 2 });
      return folder;
    });
  }

  test.each<[string, number[], Look, string]>([
    ['overview', [0], {}, '#overview'],
    ['failing', [1], {}, '#overview'],
    ['phone', [1], { width: 360 }, '#overview'],
    ['dark', [0], { dark: true }, '#charts'],
    ['timeline', [0], {}, '#timeline'],
    ['three-shards', [0, 1, 2], {}, '.runs'],
  ])('are kept as artifacts/report-%s.png', async (name, which, look, place) => {
    const folders = shards();
    const file = await page(which.map((at) => folders[at] ?? ''));
    const { page: shown } = await browser.open(file, look);
    await shown.evaluate(`document.querySelector('${place}').scrollIntoView()`);
    if (name === 'timeline') await shown.locator('.row.call button').first().click();
    await shown.locator('pre').first().waitFor();
    mkdirSync(ARTIFACTS, { recursive: true });
    copyFileSync(file, join(ARTIFACTS, `report-${name}.html`));
    const path = join(ARTIFACTS, `report-${name}.png`);
    await shown.screenshot({ path });
    expect(statSync(path).size).toBeGreaterThan(10_000);
  });
});
