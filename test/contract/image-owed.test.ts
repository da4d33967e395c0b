import { type ContractBench, openBench } from './contract-bench';

describe('an image call that a person sent again, because nobody knew its fate', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench.close());

  async function sentAgain(creationKey: string) {
    const request = { prompt: creationKey };
    const rule = { promptIncludes: creationKey, times: 1 };
    await bench.fault('generate', { type: 'lose_reply', accepted: true, how: 'close' }, rule);
    const lost = await bench.generate(request, { creationKey });
    if (lost.outcome !== 'unconfirmed') throw new Error(lost.outcome);
    const decided = {
      sendId: lost.evidence.sendId ?? '',
      decision: 'resubmit',
      by: 'me',
      reason: 'yes',
    } as const;
    await bench.run('media.resolveUnconfirmed', { creationKey, ...decided });
    return { request, rule };
  }

  it('[C7.10] is not settled by its images: the first send may have cost as well', async () => {
    const { request } = await sentAgain('owed image');
    expect(await bench.generate(request, { creationKey: 'owed image' })).toMatchObject({
      outcome: 'completed',
      billing: { state: 'needs_review' },
    });
  });

  it('[C7.10] says so where it has to be tried again: cancelled now, it may have cost', async () => {
    const { request, rule } = await sentAgain('refused image');
    await bench.fault('generate', { type: 'status', status: 429 }, rule);
    const again = bench.generate(request, { creationKey: 'refused image' });
    await expect(again).rejects.toMatchObject({ details: [{ class: 'refused_for_now', mayBeOwed: true }] });
  });
});
