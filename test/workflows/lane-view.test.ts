import { type RowPhase } from '../../src/domain/campaign/lane-state';
import { type Lane } from '../../src/workflows/campaign/lane';
import { laneReport } from '../../src/workflows/campaign/lane-view';

describe('the report of a lane', () => {
  const phases = (...all: RowPhase[]) => all.map((phase) => ({ phase }));

  /** As far as a report reads it. */
  const laneOf = (unrestored: { readonly phase: RowPhase }[]) =>
    ({
      input: { lane: 0, life: 1, campaignRun: 'run' },
      seen: 7,
      rows: new Set(),
      unrestored: () => unrestored,
      held: null,
      parent: { gone: false },
      pages: { all: () => [] },
      results: { segments: () => [], unwritten: () => 2 },
      budget: { grant: () => ({ held: 500, since: 0 }), committed: () => 300, needs: null },
    }) as unknown as Lane;

  it('of a run that has just begun counts the rows that the one before held: what they cost may come back', () => {
    const held = phases('watching', 'watching', 'downloading', 'creating', 'waiting', 'waiting');
    expect(laneReport(laneOf(held), 9, 0)).toMatchObject({
      inFlight: 4,
      settling: 6,
      waiting: 2,
      sample: [],
    });
    expect(laneReport(laneOf([]), 9, 0)).toMatchObject({ inFlight: 0, settling: 2, waiting: 0 });
  });
});
