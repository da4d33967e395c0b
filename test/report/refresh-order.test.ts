import { rm } from 'node:fs/promises';
import fc from 'fast-check';
import { writeReport } from '../../packages/report/src/write-report';
import { type CampaignRowResult, type RowOutcome } from '../../src/domain/campaign/row';
import { makePng } from '../stores/artifacts/make-media';
import { at, factsOf, makeResult, putIndex, putPlan, putSegments, resultsRef } from './make-campaign';
import { filesOf, reportPlace, type ReportPlace } from './report-place';

const ROWS = 450;
const OUTCOMES: readonly RowOutcome[] = ['completed', 'failed', 'still_running', 'unconfirmed'];

describe('refreshes', () => {
  let place: ReportPlace;
  beforeEach(async () => {
    place = await reportPlace();
  });
  afterEach(() => place.remove());

  test('any order of segments and refreshes gives the same files', async () => {
    const { store } = place;
    const image = await store.putBuffer(makePng(8, 8), { mediaType: 'image/png' });
    const plans = [
      await putPlan(store, ROWS, (row) => `first prompt ${row}`),
      await putPlan(store, ROWS, (row) => `second prompt ${row}`, { generation: 1 }),
    ];
    // One result per key and generation; media only where the last generation brings them.
    const row = fc.record({
      row: fc.nat(ROWS - 1),
      moved: fc.nat(3),
      generations: fc.constantFrom([0], [1], [0, 1]),
      outcome: fc.constantFrom(...OUTCOMES),
      upper: fc.boolean(),
    });
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, { selector: (one) => one.row, minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(), { minLength: 24, maxLength: 24 }),
        fc.uniqueArray(fc.nat(6), { maxLength: 4 }),
        async (rows, order, cuts) => {
          const results = rows.flatMap(({ row: place_, moved, generations, outcome, upper }) =>
            generations.map((generation): CampaignRowResult => {
              const isLast = generation === generations.at(-1);
              return makeResult(generation === 1 ? (place_ + moved * 150) % ROWS : place_, {
                key: upper ? `SHOT-${place_}` : `shot-${place_}`,
                generation,
                attempt: generation,
                outcome: isLast ? outcome : 'failed',
                artifacts: isLast && outcome === 'completed' ? [image] : [],
              });
            }),
          );
          const shuffled = results
            .map((result, index) => ({ result, order: order[index] ?? 0 }))
            .sort((a, b) => a.order - b.order)
            .map(({ result }) => result);
          const segments = await putSegments(store, shuffled, 3);
          const facts = (asOf: number): ReturnType<typeof factsOf> => factsOf(results, { asOf: at(asOf) });
          number += 1;
          const [straight, crooked] = [`${place.out}-${number}-a`, `${place.out}-${number}-b`];
          const all = { store, plans, results: resultsRef(segments, { generation: 1 }), facts: facts(100) };
          await writeReport({ ...all, out: straight });
          for (const [step, cut] of cuts.entries())
            await writeReport({
              ...all,
              out: crooked,
              results: resultsRef(segments.slice(cut).reverse(), { generation: step % 2 }),
              facts: facts(step),
            });
          await writeReport({
            ...all,
            out: crooked,
            results: resultsRef([], { generation: 1, indexes: [await putIndex(store, segments)] }),
          });
          await writeReport({ ...all, out: crooked, facts: facts(1), results: resultsRef(segments) });
          expect(await filesOf(crooked)).toEqual(await filesOf(straight));
          await rm(straight, { recursive: true });
          await rm(crooked, { recursive: true });
        },
      ),
      { numRuns: 25 },
    );
  });
});
