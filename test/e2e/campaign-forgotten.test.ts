import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { resultsOf, type Row, startCampaign } from '../support/campaign';
import { sharedStack } from '../support/shared-stack';

describe('a campaign whose journal has forgotten it', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });

  it('[C4.4a] never creates a row again that has a task on the books', async () => {
    const media = await stack();
    const rows: Row[] = [{ id: 'slow', model: 'cine-1', prompt: '[run:60s] a slow barge', duration: 2 }];
    const handle = await startCampaign(media, rows, { waitFor: '4s' });
    const first = await handle.result();
    expect(first.counts).toEqual({ still_running: 1 });
    const bought = (await resultsOf(media, first.results)).get('slow');

    // As a prune does that goes too far: every key is gone.
    const { journal } = media.config;
    for (const name of await readdir(journal))
      if (/^[0-9a-f]{2}$/.test(name)) await rm(join(journal, name), { recursive: true });
    const again = await startCampaign(
      media,
      rows,
      { waitFor: '4s', previous: first.results },
      handle.workflowId,
    );
    const second = await again.result();

    const creates = await media.sandbox.admin.requests({ operation: 'create' });
    expect(creates).toHaveLength(1);
    expect(second.counts).toEqual({ still_running: 1 });
    expect(second.money).toEqual(first.money);
    const line = (await resultsOf(media, second.results)).get('slow');
    expect(line).toMatchObject({ outcome: 'still_running', taskId: bought?.taskId, ledger: bought?.ledger });
  });
});
