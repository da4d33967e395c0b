import { campaignStateOf, resultsOf, startCampaign, type Row } from '../support/campaign';
import { sharedStack } from '../support/shared-stack';

/** Two campaigns of one worker: same rows, same queues. */
describe('two campaigns at once', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } });
  const rows = (count: number): Row[] =>
    Array.from({ length: count }, (_unused, n) => ({
      id: `r${n}`,
      model: 'cine-1',
      prompt: `a kite ${n}`,
      duration: 2,
    }));

  it('each buys its own rows, and a small one does not wait for the end of a large one', async () => {
    const media = await stack();
    const large = await startCampaign(media, rows(40), { concurrency: 5 });
    const small = await startCampaign(media, rows(5), { concurrency: 5, fairnessWeight: 2, priority: 2 });
    const first = await small.result();
    const meanwhile = await campaignStateOf(large);
    expect(meanwhile.phase).toBe('running');
    const second = await large.result();
    expect([first.counts, second.counts]).toEqual([{ completed: 5 }, { completed: 40 }]);
    // The same text bought twice is two purchases, each on the books of its own campaign.
    const { creates } = await media.sandbox.admin.counters();
    expect(creates).toEqual({ received: 45, accepted: 45 });
    for (const [handle, { results }, count] of [
      [small, first, 5],
      [large, second, 40],
    ] as const) {
      const lines = [...(await resultsOf(media, results)).values()];
      expect(lines).toHaveLength(count);
      for (const { key, ledger } of lines)
        expect(ledger.map(({ creationKey }) => creationKey)).toEqual([
          `media-row/${handle.workflowId}/${key}/0`,
        ]);
    }
  });
});
