import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

const executablePath = [process.env.CHROMIUM_PATH, '/usr/bin/chromium'].find(
  (path) => path !== undefined && existsSync(path),
);

/** The browser, or an empty text where there is none. */
export const CHROMIUM = executablePath ?? '';

/** `describe` where a Chromium is, else `describe.skip`. */
export const inBrowser = executablePath === undefined ? describe.skip : describe;

/**
 * A page for each test, opened from disk. Each test fails where its page shows a dialog, sends a request that leaves the
 * folder, or logs an error or a warning.
 * @param place folder of the pages, once they are written, or the address at which they are served
 */
export function guardedPage(place: () => string, width: number): () => Page {
  let browser: Browser;
  let page: Page;
  const seen = { dialogs: [] as string[], foreign: [] as string[], errors: [] as string[] };

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  }, 120_000);
  afterAll(() => browser?.close());
  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width, height: 1000 } });
    for (const list of Object.values(seen)) list.length = 0;
    page.on('dialog', (dialog) => {
      seen.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      const root = place().startsWith('http') ? place() : pathToFileURL(place()).href;
      if (!request.url().startsWith(root)) seen.foreign.push(request.url());
    });
    page.on('pageerror', (error) => seen.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') seen.errors.push(message.text());
    });
  });
  afterEach(async () => {
    await page.close();
    expect(seen).toEqual({ dialogs: [], foreign: [], errors: [] });
  });
  return () => page;
}

/** For people who want to look: into the folder `GALLERY_SHOTS`. */
export async function shot(page: Page, name: string, fullPage = false): Promise<void> {
  const folder = process.env.GALLERY_SHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}
