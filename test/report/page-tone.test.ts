import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJson } from '../../packages/replay/src/history-codec';
import { buildTimeline } from '../../packages/replay/src/timeline/build-timeline';
import { timelinePage } from '../../packages/replay/src/timeline/timeline-page';
import { writeReport } from '../../packages/report/src/write-report';
import { type RowCounts, ROW_OUTCOMES } from '../../src/domain/campaign/results';
import { goldenHistory } from '../replay/golden-histories';
import { goldenRun, goldenTarget } from '../replay/timeline/golden-targets';
import { at, factsOf, resultsRef } from './make-campaign';
import { reportPlace, type ReportPlace } from './report-place';

const HISTORY = 'runCampaign.paused-and-resumed.v1.json';

interface Badge {
  readonly tone: string;
  readonly lookAt: boolean;
}

/** The badge of the timeline's page, of a campaign with this end in its history. */
function inTimeline(counts: RowCounts): Badge {
  const events = goldenHistory(HISTORY).json.events.map((event) => {
    const ended = event['workflowExecutionCompletedEventAttributes'] as
      | { readonly result: { readonly payloads: readonly { readonly data: string }[] } }
      | undefined;
    const [payload] = ended?.result.payloads ?? [];
    if (payload === undefined) return event;
    const result = JSON.parse(Buffer.from(payload.data, 'base64').toString()) as object;
    const data = Buffer.from(JSON.stringify({ ...result, counts })).toString('base64');
    return {
      ...event,
      workflowExecutionCompletedEventAttributes: { result: { payloads: [{ ...payload, data }] } },
    };
  });
  const run = { ...goldenRun(HISTORY), history: historyFromJson({ events }) };
  const page = timelinePage(buildTimeline({ target: HISTORY, runs: [run] }));
  const data = /<script type="application\/json" id="data">(.*?)<\/script>/.exec(page)?.[1] ?? '';
  const { tone, label } = (JSON.parse(data) as { timelines: { tone: string; label: string }[] })
    .timelines[0] ?? {
    tone: '',
    label: '',
  };
  return { tone, lookAt: label.endsWith('needing attention') };
}

describe('the gallery and the timeline of a campaign', () => {
  let place: ReportPlace;
  beforeEach(async () => {
    place = await reportPlace();
  });
  afterEach(() => place.remove());

  async function inGallery(counts: RowCounts, state: 'done' | 'running' = 'done'): Promise<Badge> {
    const { store, out } = place;
    const facts = factsOf([], { counts, state, finishedAt: state === 'done' ? at(99) : null });
    await writeReport({ store, out, results: resultsRef([]), facts });
    const badge = /<p class="badge state (\w+) \w+">(.*?)<\/p>/.exec(
      await readFile(join(out, 'index.html'), 'utf8'),
    );
    return { tone: badge?.[1] ?? '', lookAt: badge?.[2]?.includes('needing attention') ?? false };
  }

  test.each(ROW_OUTCOMES)('agree on the tone of one with rows that are %s', async (outcome) => {
    const counts = { completed: 6, [outcome]: 7 };
    const badge = await inGallery(counts);
    expect(badge).toEqual(inTimeline(counts));
    expect(badge.tone === 'good').toBe(outcome === 'completed');
    expect(badge.lookAt).toBe(badge.tone === 'bad');
  });

  test('a campaign that is still running is never green', async () => {
    expect(await inGallery({ completed: 6 }, 'running')).toEqual({ tone: 'wait', lookAt: false });
    expect(await inGallery({ completed: 6, failed: 1 }, 'running')).toEqual({ tone: 'bad', lookAt: true });
  });

  test('a batch with a failed row is as red as its campaign', () => {
    const tones = [0, 1].map((batch) => {
      const name = `campaignBatch.paused-and-resumed-batch${batch}.v1.json`;
      const { entries, rows } = buildTimeline(goldenTarget(name));
      return [entries.at(-1)?.tone, rows.some(({ tone }) => tone === 'bad')];
    });
    const { entries } = buildTimeline(goldenTarget(HISTORY));
    const seen = entries.filter(({ kind }) => kind === 'batch').map(({ tone }) => [tone, tone === 'bad']);
    expect(tones).toEqual(seen);
    expect(tones).toContainEqual(['bad', true]);
  });
});
