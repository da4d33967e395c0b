import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Page } from 'playwright-core';
import { buildTimeline } from '../../packages/replay/src/timeline/build-timeline';
import { type Timeline } from '../../packages/replay/src/timeline/timeline';
import { timelinePage } from '../../packages/replay/src/timeline/timeline-page';
import { goldenTarget } from '../replay/timeline/golden-targets';
import { guardedPage, inBrowser, shot } from './guarded-page';

const timelineOf = (names: readonly string[], children: readonly Timeline[] = []): Timeline =>
  buildTimeline(goldenTarget(...names.map((name) => `${name}.v1.json`)), { children });

const HOSTILE = `</script><img src=x onerror="alert(1)"><b>`;
const video = timelineOf(['generateVideo.completed-after-retry-after']);

const PAGES: { readonly [name: string]: Timeline } = {
  video,
  continued: timelineOf([1, 2, 3].map((run) => `generateVideo.continued-watching-run${run}`)),
  decided: timelineOf(['generateVideo.adopted-by-update']),
  campaign: timelineOf(
    ['runCampaign.paused-and-resumed'],
    [0, 1].map((batch) => timelineOf([`campaignBatch.paused-and-resumed-batch${batch}`])),
  ),
  hostile: {
    ...video,
    workflowId: HOSTILE,
    taskId: HOSTILE,
    entries: video.entries.map((entry) => ({ ...entry, text: HOSTILE, facts: { [HOSTILE]: [HOSTILE] } })),
  },
};

inBrowser('the page of a timeline in a browser, opened from disk', () => {
  let folder: string;
  let page: Page;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'timeline-'));
    for (const [name, timeline] of Object.entries(PAGES))
      await writeFile(join(folder, `${name}.html`), timelinePage(timeline));
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const opened = guardedPage(() => folder, 1280);
  beforeEach(() => {
    page = opened();
  });

  const open = (name: string) => page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
  const range = async (): Promise<string> => (await page.textContent('#range')) ?? '';
  /** Waits until the chart shows a part of the time, or all of it. */
  const shows = (part: boolean) =>
    page.waitForFunction((wanted) => (document.getElementById('range')?.textContent !== '') === wanted, part);

  test('draws lanes, and a click on a bar opens its entry with facts and events', async () => {
    await open('video');
    expect(await page.textContent('.badge')).toBe('Completed');
    const lanes = await page.locator('#chart .name').allTextContents();
    expect(lanes).toEqual(['Creates', 'Polls', 'Waits', 'Downloads', 'Money', 'Workflow']);
    expect(await page.locator('#entries li').count()).toBe(video.entries.length);
    await page.locator('#chart .item.lane-download').click();
    const chosen = page.locator('#entries li.chosen');
    expect(await chosen.locator('summary .text').textContent()).toContain('Download: 4.1 kB stored');
    expect(await chosen.locator('.facts').first().textContent()).toContain('46, 47, 48, 49, 50, 51');
    await shot(page, 'timeline-video', true);
  });

  test('zooms by wheel, buttons and keyboard, and is dragged', async () => {
    await open('continued');
    expect(await range()).toBe('');
    const box = await page.locator('#chart').boundingBox();
    if (box === null) throw new Error('no chart');
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    await page.mouse.wheel(0, -300);
    await shows(true);
    const zoomed = await range();
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 150, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction((before) => document.getElementById('range')?.textContent !== before, zoomed);
    await shot(page, 'timeline-zoomed', true);
    await page.click('#all');
    await shows(false);
    await page.click('#in');
    await shows(true);
    await page.focus('#chart');
    await page.keyboard.press('0');
    await shows(false);
    await page.keyboard.press('+');
    await shows(true);
    const before = await range();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction((text) => document.getElementById('range')?.textContent !== text, before);
    await page.keyboard.press('-');
    await page.keyboard.press('-');
    await shows(false);
    await shot(page, 'timeline-continued', true);
  });

  test('shows a decision of a person, opened by the keyboard', async () => {
    await open('decided');
    // The wait for a person has no events of its own.
    expect(await page.locator('#chart .item.lane-wait').count()).toBeGreaterThan(0);
    const summary = page.locator('#entries li.create summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('#entries li.create .facts').first().textContent()).toContain('http_502');
    expect(await page.locator('#spent .legend').textContent()).toContain('waiting for a person');
    await shot(page, 'timeline-decided', true);
  });

  test('shows the batches and rows of a campaign, and the timeline of each batch', async () => {
    await open('campaign');
    expect(await page.locator('#rows tbody tr').count()).toBe(PAGES.campaign?.rows.length);
    expect(await page.locator('#chart .item.lane-batches').count()).toBe(2);
    expect(await page.locator('#chart .row').count()).toBeGreaterThan(0);
    await shot(page, 'timeline-campaign', true);
    await page.locator('#others button').nth(1).click();
    expect(await page.textContent('h1')).toContain('runCampaign.paused-and-resumed/batch/0');
    expect(await page.locator('#entries li.create').count()).toBeGreaterThan(0);
    await shot(page, 'timeline-batch', true);
  });

  test('shows hostile texts as texts', async () => {
    await open('hostile');
    expect(await page.textContent('h1')).toContain(HOSTILE);
    await page.locator('#entries summary').first().click();
    expect(await page.locator('#entries dt').allTextContents()).toContain(HOSTILE);
    expect(await page.locator('img, b.injected').count()).toBe(0);
  });

  test.each([
    ['light', 'light'],
    ['dark', 'dark'],
  ] as const)('fits a phone, %s', async (_name, colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 360, height: 740 });
    for (const name of ['video', 'campaign']) {
      await open(name);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(360);
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(ground).toBe(colorScheme === 'dark' ? 'rgb(15, 18, 23)' : 'rgb(245, 246, 248)');
      await shot(page, `timeline-phone-${name}-${colorScheme}`, true);
    }
  });
});
