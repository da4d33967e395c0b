import fc from 'fast-check';
import { type ResultsIndex } from '../../src/domain/campaign/results';
import { type CampaignRowResult } from '../../src/domain/campaign/row';
import { latestResults, readResults } from '../../src/manifest/result-lines';
import { memoryStore } from './memory-store';
import { PlanHarness } from './plan-harness';

const store = memoryStore();
/** What reading looks at; the number tells lines apart. */
const line = (key: string, generation: number, polls: number) =>
  ({ key, generation, polls }) as CampaignRowResult;

async function collect(rows: AsyncIterable<CampaignRowResult>): Promise<number[]> {
  const found: number[] = [];
  for await (const { polls } of rows) found.push(polls);
  return found;
}

describe('results of a campaign', () => {
  let harness: PlanHarness;
  beforeAll(async () => {
    harness = await PlanHarness.open(store);
  });
  afterAll(() => harness.close());

  it('are the segments of the indexes, then the others, in the order of their writing', async () => {
    const ref = await harness.results(
      [line('a', 0, 1)],
      [line('b', 0, 2), line('c', 0, 3)],
      [line('a', 1, 4)],
    );
    const index: ResultsIndex = { v: 1, segments: ref.segments.slice(0, 2) };
    const { sha256 } = await store.putBuffer(Buffer.from(JSON.stringify(index)), {
      mediaType: 'application/json',
    });
    const folded = { ...ref, indexes: [sha256], segments: ref.segments.slice(2) };
    expect(await collect(readResults(store, folded))).toEqual([1, 2, 3, 4]);
    expect(await collect(latestResults(store, folded))).toEqual([2, 3, 4]);
  });

  it('have one line for each row that counts: of the highest generation the last', async () => {
    const lines = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(3)), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(lines, fc.nat(5), async (drawn, cut) => {
        const all = drawn.map(([key, generation], at) => line(key, generation, at));
        const ref = await harness.results(all.slice(0, cut), all.slice(cut));
        const best = new Map<string, CampaignRowResult>();
        for (const one of all)
          if (one.generation >= (best.get(one.key)?.generation ?? 0)) best.set(one.key, one);
        const expected = [...best.values()].map(({ polls }) => polls).sort((a, b) => a - b);
        expect(await collect(latestResults(store, ref))).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('fail as a whole when a segment is damaged or gone', async () => {
    const real = await PlanHarness.open();
    const ref = await real.results([line('a', 0, 1)]);
    const gone = { ...ref, segments: [...ref.segments, 'c'.repeat(64)] };
    await expect(collect(readResults(real.store, gone))).rejects.toMatchObject({ code: 'not_found' });
    await real.damage(ref.segments[0]!);
    await expect(collect(readResults(real.store, ref))).rejects.toMatchObject({ code: 'hash_mismatch' });
    await real.close();
  });
});
