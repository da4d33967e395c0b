import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Page } from 'playwright-core';
import { writeReport } from '../../packages/report/src/write-report';
import { type CampaignRowResult } from '../../src/domain/campaign/row';
import { at, factsOf, makeResult, planOf, putPlan, putSegments, resultsRef } from '../report/make-campaign';
import { reportPlace, type ReportPlace } from '../report/report-place';
import { makeMp4, makePng } from '../stores/artifacts/make-media';
import { guardedPage, inBrowser, shot } from './guarded-page';

const ROWS = 10_000;
const HOSTILE = [
  `<script>alert('prompt')</script><img src=x onerror="alert(1)">`,
  `"><svg onload=alert(2)><a href="javascript:alert(3)">click</a>`,
  `</p></article></main><iframe src="https://evil.example/"></iframe>`,
  `<link rel=stylesheet href=https://evil.example/x.css><style>*{display:none}</style>`,
  `</script><script>alert(4)</script> <%= process.env %> \${alert(5)} {{alert(6)}}`,
  `\u202Egnp.exe\u202C and \u2066isolated`,
];

inBrowser('the gallery of a campaign in a browser, opened from disk', () => {
  let place: ReportPlace;
  let page: Page;

  beforeAll(async () => {
    place = await reportPlace();
    const results = await manyResults(place);
    const plan = await putPlan(
      place.store,
      ROWS,
      (row) => HOSTILE[row] ?? `A quiet harbour at dawn, take ${row}`,
    );
    await writeReport({
      store: place.store,
      out: place.out,
      results: resultsRef(await putSegments(place.store, results)),
      facts: factsOf(results, {
        plan: planOf(plan, ROWS + 100),
        remaining: 100,
        budget: {
          total: { microUnits: 500_000_000, currency: 'USD' },
          spent: 100_000_000,
          reserved: 0,
          review: 50_000_000,
          free: 350_000_000,
          over: 0,
        },
        notes: ['<b>Two</b> rows wait for capacity.'],
      }),
    });
  }, 600_000);
  afterAll(() => place?.remove());
  const opened = guardedPage(() => place.out, 1400);
  beforeEach(() => {
    page = opened();
  });

  const open = async (name: string): Promise<void> => {
    await page.goto(pathToFileURL(join(place.out, name)).href.replace('%23', '#'));
  };
  const shown = async (): Promise<string> => {
    await page.waitForFunction(() => document.getElementById('shown')?.textContent?.match(/shown|fits/));
    return (await page.textContent('#shown')) ?? '';
  };

  test('totals, money and the first cards', async () => {
    await open('index.html');
    expect(await shown()).toMatch(/^\d+ of 10,000 shown$/);
    await shot(page, 'index');
    expect(await page.textContent('.state')).toContain('Running, as of 2026-11-21 11:00:00 UTC');
    expect(await page.textContent('.money')).toContain('USD');
    expect(await page.locator('.pages li').count()).toBe(ROWS / 200);
    expect(await page.locator('.notes li').textContent()).toBe('<b>Two</b> rows wait for capacity.');
  });

  test('filters by outcome and model reach all pages', async () => {
    await open('index.html');
    await page.click('.chip[data-outcome="failed"]');
    await page.waitForFunction(() =>
      /of 500 shown/.test(document.getElementById('shown')?.textContent ?? ''),
    );
    const outcomes = await page.$$eval('.card', (cards) =>
      cards.map((card) => card.getAttribute('data-outcome')),
    );
    expect(new Set(outcomes)).toEqual(new Set(['failed']));
    expect(await page.locator('.card .todo').first().textContent()).toContain('What to do');
    await shot(page, 'failed');
    await page.selectOption('#model', 'image-2 4K');
    await page.waitForFunction(() => document.getElementById('shown')?.textContent === 'No matching rows');
    await page.click('.chip[data-outcome=""]');
    await page.waitForFunction(() =>
      /of 2,000 shown/.test(document.getElementById('shown')?.textContent ?? ''),
    );
    const models = await page.$$eval('.card', (cards) =>
      cards.map((card) => card.getAttribute('data-model')),
    );
    expect(new Set(models)).toEqual(new Set(['image-2 4K']));
    await shot(page, 'images');
    // All of them, page after page.
    await page.selectOption('#model', '');
    await page.click('.chip[data-outcome="unconfirmed"]');
    await page.waitForFunction(() => {
      window.scrollTo(0, document.body.scrollHeight);
      return document.getElementById('shown')?.textContent === '100 of 100 shown';
    });
    expect(await page.locator('.card').count()).toBe(100);
    expect(await page.locator('#more').isVisible()).toBe(false);
    // The filter stands in the address: back and reload keep it.
    await page.reload();
    expect(await shown()).toContain('of 100');
  });

  test('a video plays: by its own controls, by the keyboard, one at a time', async () => {
    await open('page-0001.html');
    expect(await page.locator('.card').count()).toBe(200);
    const videos = page.locator('.card video');
    expect(await videos.nth(30).getAttribute('preload')).toBe('none');
    const first = page.locator('.card', { has: page.locator('video') }).first();
    await first.focus();
    await page.keyboard.press('Space');
    const played = await first.locator('video').evaluate(async (element) => {
      const video = element as HTMLVideoElement;
      await new Promise<void>((resolve, reject) => {
        const look = (): void => (video.currentTime > 0.2 ? resolve() : undefined);
        video.addEventListener('timeupdate', look);
        video.addEventListener('error', () => reject(new Error(video.error?.message)));
        look();
      });
      return { width: video.videoWidth, duration: video.duration };
    });
    expect(played.width).toBe(64);
    expect(played.duration).toBeCloseTo(2, 1);
    await shot(page, 'page');
    await page.keyboard.press('Space');
    expect(await first.locator('video').evaluate((video) => (video as HTMLVideoElement).paused)).toBe(true);
    await page.keyboard.press('m');
    expect(await first.locator('video').evaluate((video) => (video as HTMLVideoElement).muted)).toBe(true);
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.id)).not.toBe(await first.getAttribute('id'));
    const second = videos.nth(3);
    await first.locator('video').evaluate((video) => (video as HTMLVideoElement).play());
    await second.evaluate((video) => (video as HTMLVideoElement).play());
    await page.waitForFunction(
      () => [...document.querySelectorAll('video')].filter((video) => !video.paused).length === 1,
    );
  });

  test('images are there, and all media load only on demand', async () => {
    await open('page-0001.html');
    const image = page.locator('.card img').first();
    await image.scrollIntoViewIfNeeded();
    await page.waitForFunction(
      () => document.querySelector<HTMLImageElement>('.card img')?.naturalWidth === 64,
    );
    const media = await page.evaluate(
      () => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/media/')).length,
    );
    expect(media).toBeLessThan(100);
  });

  test('a prompt with markup is text, here and in the filtered cards', async () => {
    for (const name of ['page-0001.html', 'index.html#order=manifest']) {
      await open(name);
      await page.waitForSelector('.card:nth-of-type(6)');
      const prompts = await page.$$eval('.card .prompt', (all) =>
        all.slice(0, 6).map((one) => one.textContent),
      );
      expect(prompts).toEqual(HOSTILE);
      expect(await page.locator('main iframe, main script, main style, main link, main svg').count()).toBe(0);
    }
    await shot(page, 'hostile');
  });

  test('pages lead to each other', async () => {
    await open('page-0001.html');
    await page.click('.pager a[rel=next] >> nth=0');
    await page.waitForSelector('body[data-page="page-0002"]');
    await page.click('.pager a[rel=prev] >> nth=0');
    await page.waitForSelector('body[data-page="page-0001"]');
    await page.click('.crumb a');
    await page.waitForSelector('#filters:not([hidden])');
  });

  test('dark, and on a small screen', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await open('index.html');
    await shown();
    await shot(page, 'dark');
    await page.setViewportSize({ width: 390, height: 844 });
    await shot(page, 'small');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });
});

/** 6 hostile prompts first; a fifth of images, some failures of several kinds. */
async function manyResults({ store }: ReportPlace): Promise<CampaignRowResult[]> {
  const videos = await Promise.all(
    [0, 40, 80].map(async (shade) => store.putBuffer(await makeMp4(20, shade), { mediaType: 'video/mp4' })),
  );
  const image = await store.putBuffer(makePng(64, 48), { mediaType: 'image/png' });
  return Array.from({ length: ROWS }, (_, row) => {
    const finishedAt = at(60 + Math.floor(row / 4));
    if (row % 20 === 7)
      return makeResult(row, {
        outcome: 'failed',
        errorKind: 'moderation',
        message: HOSTILE[0] ?? '',
        finishedAt,
      });
    if (row % 100 === 13)
      return makeResult(row, { outcome: 'unconfirmed', reason: 'connection_lost_after_send' });
    if (row % 200 === 33) return makeResult(row, { outcome: 'skipped_budget', taskId: null, ledger: [] });
    if (row % 5 === 4)
      return makeResult(row, {
        operation: 'generate_image',
        model: 'image-2 4K',
        artifacts: [image],
        requested: { durationSeconds: null, resolution: null, referenceMode: null },
        finishedAt,
      });
    return makeResult(row, {
      artifacts: videos.slice(row % 3, (row % 3) + 1),
      reported: row % 50 === 1 ? { durationSeconds: 5 } : { durationSeconds: 4 },
      warnings: row % 50 === 1 ? ['The service reports durationSeconds 5; 4 was requested.'] : [],
      usage: { seconds: 4 },
      finishedAt,
    });
  });
}
