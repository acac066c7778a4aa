import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { collect } from '../../src/reports/collect.ts';
import { renderReport } from '../../src/reports/render.ts';
import { CHROMIUM, useChromium } from '../helpers/chromium.ts';
import { tempFolder } from '../helpers/temp.ts';
import { HOSTILE, hostileRun } from './hostile.ts';

/** What the page holds beside what we put there; a text, since it is the browser that runs it. */
const FACTS = `({
  pwned: 'pwned' in window,
  polluted: 'polluted' in {},
  strange: document.querySelectorAll(
    'img, iframe, object, embed, link, base, form, video, audio, [onerror], [onload], [onmouseover], [style*=url]',
  ).length,
  scripts: document.querySelectorAll('script:not([type])').length,
  addresses: [...document.querySelectorAll('[href], [src]')].map((item) => item.getAttribute('href')),
  styles: document.querySelectorAll('style').length,
  policies: document.querySelectorAll('meta[http-equiv]').length,
  address: location.protocol,
})`;

async function hostilePage(): Promise<string> {
  const root = tempFolder();
  const file = join(root, 'report.html');
  const folders = [
    hostileRun(join(root, '<img src=x onerror=pwned=1>')),
    join(root, '</script><script>pwned=1</script>'),
  ];
  const pieces: string[] = [];
  for await (const piece of renderReport(await collect(folders, false), 'html')) pieces.push(piece);
  writeFileSync(file, pieces.join(''));
  return file;
}

test('the text of the page holds no markup but its own, no unseen character and no command of a CI system', async () => {
  const html = readFileSync(await hostilePage(), 'utf8');
  const chunks = html.match(/<script type="text\/plain"/g)?.length ?? 0;
  // Ours: the chunks, the data, the script.
  expect(html.match(/<script/gi)).toHaveLength(chunks + 2);
  expect(html.match(/<\/script/gi)).toHaveLength(chunks + 2);
  expect(html).not.toMatch(/<(img|svg|iframe|base|b|!--)\b/i);
  expect(html.match(/<meta http-equiv/g)).toHaveLength(1);
  expect(html).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}|\p{Zl}|\p{Zp}/u);
  for (const line of html.split('\n')) expect(line).not.toMatch(/^\s*::|##\[/);
  expect(html).toContain(`content="default-src 'none'; script-src 'sha256-`);
});

describe.skipIf(CHROMIUM === undefined)('a hostile run in a browser, needs Chromium', () => {
  const browser = useChromium();

  test('runs no script, asks for nothing and makes no element, whatever is opened and searched for', async () => {
    const { page, left, said } = await browser.open(await hostilePage(), { width: 360 });
    await page.locator('#timeline').scrollIntoViewIfNeeded();
    await page.waitForSelector('.row');
    await page.evaluate(`for (const head of document.querySelectorAll('.row-head:not(:disabled)')) head.click()`);
    await page
      .getByRole('button', { name: /^Show all/ })
      .first()
      .waitFor();
    await page.evaluate(
      `for (const show of document.querySelectorAll('.body button, #denials .link, #tokens .link')) show.click()`,
    );
    for (const text of ['<script>', 'javascript:', 'pwned']) await page.getByRole('searchbox').fill(text);
    await expect.poll(() => page.locator('#timeline [role=status]').textContent()).toMatch(/rows with/);
    const facts = await page.evaluate(FACTS);
    expect(facts).toEqual({
      pwned: false,
      polluted: false,
      strange: 0,
      scripts: 1,
      addresses: ['#timeline'],
      styles: 1,
      policies: 1,
      address: 'file:',
    });
    expect({ left, said }).toEqual({ left: [], said: [] });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  test('shows each text as the text it is', async () => {
    const { page } = await browser.open(await hostilePage());
    await page.locator('#timeline').scrollIntoViewIfNeeded();
    await page.locator('.row', { hasText: 'Prompt' }).first().locator('button').click();
    const shown = page.locator('.row.message pre').first();
    await expect.poll(() => shown.textContent()).toContain(HOSTILE[0] ?? '');
    const text = (await shown.textContent()) ?? '';
    for (const part of [
      '</script><script>',
      'javascript:window.pwned=9',
      '\\u202etxt.exe',
      '\\u001b[31mred',

      '__proto__',
    ])
      expect(text).toContain(part);
  });

  test('would be stopped by its policy even if markup came in', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const { page, said } = await browser.open(await hostilePage());
    await page.evaluate(`{
      const address = 'http://127.0.0.1:${port}/';
      document.body.insertAdjacentHTML('beforeend', '<img src="' + address + 'a" onerror="window.pwned = 1">');
      document.body.insertAdjacentHTML('beforeend', '<link rel="stylesheet" href="' + address + 'b">');
      const script = document.createElement('script');
      script.textContent = 'window.pwned = 2';
      document.body.append(script);
      fetch(address + 'c').catch(() => {});
      navigator.sendBeacon(address + 'd');
    }`);
    await expect
      .poll(() => said.filter((line) => /Content Security Policy/.test(line)).length)
      .toBeGreaterThanOrEqual(4);
    expect(await page.evaluate('"pwned" in window')).toBe(false);
    expect(asked).toEqual([]);
  });
});
