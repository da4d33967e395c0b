import { CampaignInputError } from '../../src/client';
import { storedManifest } from '../support/campaign';
import { sharedStack } from '../support/shared-stack';

describe('what a campaign is started with', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } });
  const rows = [{ id: 'one', model: 'cine-1', prompt: 'a hill', duration: 2 }];

  it('an id of any script: what batches share fairly by fits the server', async () => {
    const made = await stack();
    const id = made.server.uniqueId(`весна-${'я'.repeat(60)}`);
    const started = await made.media.campaigns.start({ manifest: await storedManifest(made, rows) }, { id });
    expect(await started.result()).toMatchObject({ outcome: 'completed', counts: { completed: 1 } });
  });

  it('what it cannot begin with starts nothing, and hides no earlier results', async () => {
    const made = await stack();
    const id = made.server.uniqueId('spring');
    const manifest = await storedManifest(made, rows);
    const first = await made.media.campaigns.start({ manifest }, { id });
    await first.result();
    const budget = { microUnits: 100_000.5, currency: 'USD' };
    await expect(made.media.campaigns.resume(id, { budget })).rejects.toBeInstanceOf(CampaignInputError);
    await expect(made.media.campaigns.start({ manifest, priority: -1 }, { id })).rejects.toThrow(
      `Campaign "${id}" cannot be started: priority must be a whole number from 1 to 5. Nothing was started.`,
    );
    const again = await made.media.campaigns.start({ manifest }, { id });
    expect(await again.result()).toMatchObject({ counts: { completed: 1 }, plan: { planned: 0, done: 1 } });
  });
});
