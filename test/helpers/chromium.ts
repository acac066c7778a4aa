// Debian's Chromium over a page in a file: what it ran, asked for and complained about.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll } from 'vitest';

/** The first Chromium on PATH; undefined: its tests are left out, or fail under AGENT_RUN_REQUIRE_CHROMIUM=1. */
export const CHROMIUM: string | undefined = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => existsSync(path));

export interface Opened {
  page: Page;
  /** Every request but that for the page itself, every dialog, every other page that was opened. */
  left: string[];
  /** What the console says, refusals of the content policy included, and errors of scripts. */
  said: string[];
  /** Milliseconds until the page shows its headline. */
  ms: number;
}

export interface Look {
  width?: number;
  dark?: boolean;
}

/** Opens pages in one browser for a test file, which ends with it. */
export function useChromium(): { open: (file: string, look?: Look) => Promise<Opened> } {
  let started: Promise<Browser> | undefined;
  afterAll(async () => (await started)?.close());
  return {
    async open(file, look = {}) {
      // As root Chromium has no sandbox of its own; the page is the one we wrote.
      const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      started ??= chromium.launch({ executablePath: CHROMIUM ?? 'chromium', args });
      return openPage(await started, pathToFileURL(file).href, look);
    },
  };
}

async function openPage(browser: Browser, address: string, { width = 1200, dark = false }: Look): Promise<Opened> {
  const viewport = { width, height: width < 500 ? 780 : 900 };
  const page = await browser.newPage({ viewport, colorScheme: dark ? 'dark' : 'light' });
  const left: string[] = [];
  const said: string[] = [];
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== address) left.push(request.url());
  });
  page.on('dialog', (dialog) => {
    left.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', () => left.push('another page'));
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  const began = performance.now();
  await page.goto(address);
  await page.waitForSelector('h1');
  return { page, left, said, ms: performance.now() - began };
}
