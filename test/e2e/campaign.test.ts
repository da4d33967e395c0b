import { resultsOf, startCampaign } from '../support/campaign';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

describe('a campaign on the real server', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });

  it('buys every row once, keeps what came and says what the others came to', async () => {
    const rows = [
      ...Array.from({ length: 12 }, (_, n) => ({
        id: `video-${n}`,
        model: 'cine-1',
        prompt: `a kite number ${n}`,
        duration: 2,
      })),
      { id: 'moderated', model: 'cine-1', prompt: '[fail:moderation] a kite', duration: 2 },
      { id: 'image', operation: 'image', model: 'image-2', prompt: 'a paper boat', size: '1024x1024' },
      { id: 'lost', model: 'cine-1', prompt: '[lost-reply] a kite that is lost', duration: 2 },
    ];
    const media = await stack();
    const handle = await startCampaign(media, rows);
    const result = await handle.result();
    expect(result).toMatchObject({
      outcome: 'completed',
      counts: { completed: 13, failed: 1, unconfirmed: 1 },
      currency: 'USD',
    });
    const lines = await resultsOf(media, result.results);
    expect(lines.size).toBe(15);
    expect(lines.get('video-3')).toMatchObject({
      outcome: 'completed',
      attempt: 0,
      ledger: [{ creationKey: `media-row/${handle.workflowId}/video-3/0`, estimate: 100_000 }],
    });
    expect(lines.get('video-3')?.artifacts).toHaveLength(1);
    expect(lines.get('image')?.artifacts).toHaveLength(1);
    expect(lines.get('moderated')).toMatchObject({ outcome: 'failed', errorKind: 'moderation' });
    expect(lines.get('lost')).toMatchObject({ outcome: 'unconfirmed' });
    const { acceptedByPromptHash } = await media.sandbox.admin.counters();
    expect(Object.values(acceptedByPromptHash)).toEqual(rows.map(() => 1));
  });

  it('[C2.2.4] tells of rows under way what the service said last', async () => {
    const made = await stack();
    const prompt = '[queue:0s] [run:8s] a kite that takes its time';
    const handle = await startCampaign(made, [{ id: 'slow', model: 'cine-1', prompt, duration: 2 }]);
    await eventually('a record of the task', async () => {
      const [row] = (await made.media.campaigns.state(handle.workflowId)).active;
      return row?.status === 'in_progress' && (row.progress ?? 0) > 0;
    });
    expect((await handle.result()).counts).toEqual({ completed: 1 });
    expect((await made.media.campaigns.state(handle.workflowId)).active).toEqual([]);
  });
});
