import fc from 'fast-check';
import { historyFromJson } from '../../../packages/replay/src/history-codec';
import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import { timelinePage } from '../../../packages/replay/src/timeline/timeline-page';
import { timelineText } from '../../../packages/replay/src/timeline/timeline-text';
import { goldenHistory } from '../golden-histories';
import { goldenRun } from './golden-targets';

const FILES = [
  'generateVideo.adopted-by-update',
  'generateVideo.completed-after-retry-after',
  'generateVideo.continued-watching-run2',
  'awaitVideo.completed-by-task-id',
  'generateImage.completed',
  'runCampaign.paused-and-resumed',
  'campaignBatch.images-to-the-end-batch0',
].map((name) => `${name}.v1.json`);

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, '', -1, 1e300, [], {}, [[]], { outcome: 'created' }, { outcome: {} }, { answers: 3 }),
);

/** Puts other values into a share of the payloads, and leaves some without one, as a foreign program may. */
function replaced(value: unknown, next: () => { readonly keep: boolean; readonly value: unknown }): unknown {
  if (Array.isArray(value)) return value.map((one) => replaced(one, next));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  if (typeof fields['data'] === 'string' && fields['metadata'] !== undefined) {
    const drawn = next();
    return drawn.keep
      ? value
      : { ...fields, data: Buffer.from(JSON.stringify(drawn.value)).toString('base64') };
  }
  return Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, replaced(inner, next)]));
}

describe('histories of other versions and programs', () => {
  it('give a timeline with every event, whatever their payloads hold', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FILES),
        fc.array(fc.record({ keep: fc.boolean(), value: junk }), { minLength: 1, maxLength: 40 }),
        (file, values) => {
          let at = 0;
          const next = () => values[at++ % values.length] as (typeof values)[number];
          const history = historyFromJson(replaced(goldenHistory(file).json, next) as object);
          const timeline = buildTimeline({ target: file, runs: [{ ...goldenRun(file), history }] });
          const told = timeline.entries.flatMap(({ events }) => events.flatMap(({ ids }) => ids));
          expect(told.length).toBe(history.events?.length);
          expect(timelineText(timeline)).not.toMatch(/undefined|NaN|\[object/);
          expect(timelinePage(timeline)).toContain('</html>');
        },
      ),
      { numRuns: 60 },
    );
  });

  it('that are cut are told up to their last event', () => {
    const run = goldenRun('generateVideo.completed-after-retry-after.v1.json');
    const events = run.history.events ?? [];
    for (let length = 1; length <= events.length; length += 1) {
      const history = { events: events.slice(0, length) };
      const timeline = buildTimeline({ target: 'cut', runs: [{ ...run, history }] });
      expect(timeline.entries.flatMap((entry) => entry.events.flatMap(({ ids }) => ids))).toHaveLength(
        length,
      );
      expect(timeline.outcome).toBe(length === events.length ? 'completed' : null);
    }
  });

  it('without events have an empty timeline', () => {
    const run = { ...goldenRun('generateVideo.completed.v1.json'), history: { events: [] } };
    const timeline = buildTimeline({ target: 'empty', runs: [run] });
    expect(timeline).toMatchObject({ entries: [], spent: [], startedAt: null, outcome: null });
    expect(timelineText(timeline)).toContain('history   0 events in 1 run');
  });
});
