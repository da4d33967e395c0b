import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Page } from 'playwright-core';
import { buildTimeline } from '../../packages/replay/src/timeline/build-timeline';
import { type TimelineRow } from '../../packages/replay/src/timeline/timeline';
import { timelinePage } from '../../packages/replay/src/timeline/timeline-page';
import { writeReport } from '../../packages/report/src/write-report';
import { type CampaignRowResult, failureKind, outcomeWords } from '../../src/domain/campaign/row';
import { goldenTarget } from '../replay/timeline/golden-targets';
import { at, factsOf, makeResult, planOf, putPlan, putSegments, resultsRef } from '../report/make-campaign';
import { reportPlace, type ReportPlace } from '../report/report-place';
import { makePng } from '../stores/artifacts/make-media';
import { guardedPage, inBrowser, shot } from './guarded-page';

const ROWS = 1_000;

/** What happens to rows that do not complete: how often, and how they end. */
const TROUBLES: readonly (readonly [every: number, changes: Partial<CampaignRowResult>])[] = [
  [25, { outcome: 'failed', errorKind: 'moderation', reason: 'OutputVideoSensitiveContentDetected' }],
  [40, { outcome: 'failed', errorKind: 'capacity', reason: 'ServerOverloaded' }],
  [50, { outcome: 'rejected', reason: 'invalid_request', taskId: null, ledger: [] }],
  [60, { outcome: 'rejected', reason: 'quota', taskId: null, ledger: [] }],
  [70, { outcome: 'still_running' }],
  [90, { outcome: 'unconfirmed', reason: 'connection_lost_after_send', taskId: null }],
];

const resultOf = (row: number, changes: Partial<CampaignRowResult>): CampaignRowResult => {
  const trouble = TROUBLES.find(([every], index) => row % every === index + 3)?.[1];
  const model = row % 3 === 0 ? 'cine-1-fast' : 'cine-1';
  const key =
    row % 10 === 9 ? `a-very-long-key-of-a-row-that-somebody-has-made-from-its-title-${row}` : `shot-${row}`;
  return makeResult(row, { model, key, ...(trouble ?? changes) });
};

const rowOf = (result: CampaignRowResult): TimelineRow => {
  const { key, line, outcome, model, taskId, startedAt, createdAt, finishedAt, polls, reason, errorKind } =
    result;
  return {
    key,
    line,
    batch: Math.floor(line / 500),
    state: outcome,
    tone: outcomeWords(outcome).tone,
    model,
    taskId,
    creates: 1,
    polls,
    startedAt,
    createdAt,
    finishedAt,
    reason: reason ?? errorKind ?? null,
    kind: failureKind({ outcome, reason, errorKind }),
    ...{ code: null, noAttempt: null, cost: null },
  };
};

inBrowser('the pages of a campaign of 1,000 rows, opened from disk', () => {
  let place: ReportPlace;
  let page: Page;
  const counts = new Map<string, number>();

  beforeAll(async () => {
    place = await reportPlace();
    const image = await place.store.putBuffer(makePng(64, 36), { mediaType: 'image/png' });
    const results = Array.from({ length: ROWS }, (_, row) => resultOf(row, { artifacts: [image] }));
    for (const { outcome, reason, errorKind } of results)
      for (const word of [outcome, `kind ${failureKind({ outcome, reason, errorKind })}`])
        counts.set(word, (counts.get(word) ?? 0) + 1);
    const outcomeCounts = Object.fromEntries([...counts].filter(([word]) => !word.startsWith('kind ')));
    const key = (row: number) => results[row]?.key ?? '';
    const plan = await putPlan(place.store, ROWS, (row) => `A harbor at dawn, take ${row} of many <b>`, {
      key,
    });
    await writeReport({
      store: place.store,
      out: place.out,
      results: resultsRef(await putSegments(place.store, results)),
      facts: factsOf(results, { plan: planOf(plan, ROWS), state: 'done', finishedAt: at(1_100) }),
    });
    const batches = [0, 1].map((batch) =>
      buildTimeline(goldenTarget(`campaignBatch.paused-and-resumed-batch${batch}.v1.json`)),
    );
    const campaign = buildTimeline(goldenTarget('runCampaign.paused-and-resumed.v1.json'), {
      children: batches,
    });
    // The times of the rows, in the time of the campaign.
    const [began, ended] = [Date.parse(campaign.startedAt ?? ''), Date.parse(campaign.lastEventAt ?? '')];
    const moved = (iso: string | null): string | null =>
      iso === null
        ? null
        : new Date(
            began + ((Date.parse(iso) - Date.parse(at(0))) / 1_100_000) * (ended - began),
          ).toISOString();
    const rows = results.map(rowOf).map((row) => ({
      ...row,
      startedAt: moved(row.startedAt),
      // Of a row whose page was not read.
      model: row.key === 'shot-1' ? null : row.model,
      createdAt: moved(row.createdAt),
      finishedAt: moved(row.finishedAt),
    }));
    const entries = campaign.entries.map((entry) =>
      entry.kind === 'ended' ? { ...entry, facts: { ...entry.facts, counts: outcomeCounts } } : entry,
    );
    await writeFile(join(place.out, 'timeline.html'), timelinePage({ ...campaign, entries, rows }));
  }, 120_000);
  afterAll(() => place?.remove());
  const opened = guardedPage(() => place.out, 1280);
  beforeEach(() => {
    page = opened();
  });

  const open = (name: string) => page.goto(pathToFileURL(join(place.out, name)).href.replace('%23', '#'));
  /** Waits until the page says how many rows it shows. */
  const says = (text: string | RegExp) =>
    page.waitForFunction(
      ([source, flags]) =>
        new RegExp(source ?? '', flags).test(document.getElementById('shown')?.textContent ?? ''),
      typeof text === 'string' ? [`^${text}$`, ''] : [text.source, text.flags],
    );
  const n = (word: string): string => (counts.get(word) ?? 0).toLocaleString('en-US');

  describe.each([
    {
      name: 'index.html',
      row: '.card',
      outcomesOf: () =>
        page.$$eval('.card', (cards) => cards.map((card) => card.getAttribute('data-outcome'))),
      keysOf: () => page.locator('.card h3').allTextContents(),
    },
    {
      name: 'timeline.html',
      row: '#body tr',
      outcomesOf: () =>
        page.$$eval('#body tr', (rows) => rows.map((row) => row.getAttribute('data-outcome'))),
      keysOf: () => page.locator('#body th').allTextContents(),
    },
  ])('$name', ({ name, row, outcomesOf, keysOf }) => {
    test('is not green, and shows rows to look at first', async () => {
      await open(name);
      await says(/of 1,000 shown/);
      const badge = page.locator('.badge').first();
      expect(await badge.getAttribute('class')).toMatch(/\bbad\b/);
      expect(await badge.textContent()).toMatch(/, 112 needing attention$/);
      const first = await outcomesOf();
      expect(first.length).toBeGreaterThanOrEqual(60);
      expect(new Set(first.map((outcome) => outcomeWords(outcome ?? '').tone))).toEqual(new Set(['bad']));
      await page.selectOption('#order', 'manifest');
      await page.waitForFunction(
        (selector) => document.querySelector(selector)?.textContent?.includes('shot-0'),
        row,
      );
      expect((await keysOf()).slice(0, 3)).toEqual(['shot-0', 'shot-1', 'shot-2']);
    });

    test('filters by outcome and by the kind of a failure, together', async () => {
      await open(name);
      await page.click('.chip[data-outcome="failed"]');
      await says(new RegExp(`of ${n('failed')} shown`));
      expect(new Set(await outcomesOf())).toEqual(new Set(['failed']));
      expect(await page.getAttribute('.chip[data-outcome="failed"]', 'aria-pressed')).toBe('true');
      await page.selectOption('#kind', 'capacity');
      await says(`${n('kind capacity')} of ${n('kind capacity')} shown`);
      await page.focus('.chip[data-outcome="rejected"]');
      await page.keyboard.press('Enter');
      await says('No matching rows');
      expect(await page.evaluate(() => document.activeElement?.getAttribute('data-outcome'))).toBe(
        'rejected',
      );
      await page.selectOption('#kind', 'invalid');
      await says(`${n('kind invalid')} of ${n('kind invalid')} shown`);
      await page.reload();
      await says(`${n('kind invalid')} of ${n('kind invalid')} shown`);
      expect(await page.inputValue('#kind')).toBe('invalid');
      await page.goBack();
      await says('No matching rows');
    });

    test('a link to what no row has any more shows all rows', async () => {
      await open(`${name}#outcome=results_lost&kind=credentials&model=gone`);
      await says(/of 1,000 shown/);
      expect(await page.getAttribute('.chip[data-outcome=""]', 'aria-pressed')).toBe('true');
      expect([await page.inputValue('#kind'), await page.inputValue('#model')]).toEqual(['', '']);
    });

    test('finds a row by what is in it, by the keyboard', async () => {
      await open(name);
      await says(/of 1,000 shown/);
      await page.focus('#search');
      await page.keyboard.type('title-499');
      await says(/^1 (found|of 1 shown)$/);
      expect(await keysOf()).toEqual(['a-very-long-key-of-a-row-that-somebody-has-made-from-its-title-499']);
      await page.fill('#search', 'task_250_0');
      await page.keyboard.press('Enter');
      await page.waitForFunction(
        (selector) => document.querySelector(selector)?.textContent?.includes('shot-250'),
        row,
      );
      expect(await page.locator(row).count()).toBe(1);
      // The words of the page itself are not what a row says.
      await page.fill('#search', 'What to do');
      await says(/^No (rows found|matching rows)$/);
      await page.fill('#search', '');
      await says(/of 1,000 shown/);
    });

    test('shows all rows, and answers after it', async () => {
      await open(name);
      await says(/of 1,000 shown/);
      await page.waitForFunction(() => {
        window.scrollTo(0, document.body.scrollHeight);
        const more = document.getElementById('more');
        if (more !== null && !more.hidden) more.click();
        return document.getElementById('shown')?.textContent === '1,000 of 1,000 shown';
      });
      expect(await page.locator(row).count()).toBe(ROWS);
      expect(new Set(await keysOf()).size).toBe(ROWS);
      await page.selectOption('#kind', 'moderation');
      await says(`${n('kind moderation')} of ${n('kind moderation')} shown`);
    });

    test.each([
      [1280, 'light'],
      [1280, 'dark'],
      [375, 'light'],
      [375, 'dark'],
    ] as const)('fits %s px, %s', async (width, colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: width === 375 ? 812 : 900 });
      await open(name);
      await says(/of 1,000 shown/);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const cut = await page.$$eval('.filters button, .filters select, .filters input', (controls) =>
        controls.filter((one) => one.getBoundingClientRect().right > innerWidth).map(({ id }) => id),
      );
      expect(cut).toEqual([]);
      await shot(page, `thousand-${name.slice(0, -5)}-${width}-${colorScheme}`);
      await page.locator('#filters').scrollIntoViewIfNeeded();
      await page.evaluate(() => document.getElementById('filters')?.scrollIntoView());
      await shot(page, `thousand-${name.slice(0, -5)}-${width}-${colorScheme}-rows`);
    });
  });

  test('zooming the clock keeps its times', async () => {
    await open('timeline.html');
    await says(/of 1,000 shown/);
    const whole = await page.locator('#chart .time').allTextContents();
    for (let times = 0; times < 6; times += 1) await page.click('#in');
    await page.waitForFunction(() => / to /.test(document.getElementById('range')?.textContent ?? ''));
    const near = await page.locator('#chart .time').allTextContents();
    expect(near[0]).toMatch(/^\d\d:\d\d:\d\d\.\d/);
    expect(near.every((time) => time >= (whole[0] ?? '') && time <= (whole.at(-1) ?? ''))).toBe(true);
    expect(await page.textContent('#range')).toMatch(/^\d\d:\d\d:\d\d to \d\d:\d\d:\d\d$|\.\d/);
  });

  test('every control of the filters has a name', async () => {
    for (const name of ['index.html', 'timeline.html']) {
      await open(name);
      await says(/of 1,000 shown/);
      for (const [role, label] of [
        ['group', 'Outcome'],
        ['button', 'Failed'],
        ['combobox', 'Kind'],
        ['combobox', 'Model'],
        ['combobox', 'Order'],
        ['searchbox', 'Search'],
      ] as const)
        expect([name, label, await page.getByRole(role, { name: label }).count()]).toEqual([name, label, 1]);
      expect(await page.getByRole('status').count()).toBeGreaterThan(0);
    }
  });

  test('the axis of a campaign is the clock, and a click on the bar of a row marks it in the table', async () => {
    await open('timeline.html');
    await says(/of 1,000 shown/);
    expect(await page.textContent('#chart-title')).toBe('Timeline UTC');
    expect((await page.locator('#model option').allTextContents()).join()).toMatch(
      /^All models,cine-1 .*,cine-1-fast .*$/,
    );
    const times = await page.locator('#chart .time').allTextContents();
    for (const time of times) expect(time).toMatch(/^\d\d:\d\d(:\d\d)?$/);
    const whole = await page.textContent('#head dd');
    expect(times[0]?.slice(0, 3)).toBe(whole?.slice(11, 14));
    expect(await page.locator('#chart .row').count()).toBe(100);
    const title = await page.locator('#chart .row').nth(4).locator('title').textContent();
    await page.locator('#chart .row').nth(4).click();
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [375, 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(() => document.getElementById('chart-title')?.scrollIntoView());
      await shot(page, `thousand-timeline-${width}-${colorScheme}-chart`);
    }
    expect(title).toContain((await page.textContent('#body tr.chosen th')) ?? 'none');
  });
});
