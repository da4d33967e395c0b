import { type Connection } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { storedManifest } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';

jest.setTimeout(120_000);

/** A campaign that is resumed or retried in a new run is the same to everybody who has set something for it. */
describe('a new run of a campaign', () => {
  let stack: MediaStack;
  const team = defineSearchAttributeKey('ShopTeam', 'KEYWORD');

  beforeAll(async () => {
    stack = await startMediaStack({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 200 } },
    });
    const { client, namespace } = stack.server;
    const { operatorService } = client.connection as Connection;
    // KEYWORD of the Temporal API.
    await operatorService.addSearchAttributes({ namespace, searchAttributes: { [team.name]: 2 } });
    await stack.startWorker();
  });
  afterAll(() => stack.stop());

  it.each(['resume', 'retry'] as const)(
    '%s keeps the priority in force, and the memo, search attributes and options of the first start',
    async (order) => {
      const { campaigns } = stack.media;
      const id = stack.server.uniqueId('spring');
      const row = { id: 'r', model: 'cine-1', duration: 2, prompt: `${order} [run:600s]` };
      const manifest = await storedManifest(stack, [row]);
      const options = {
        ...{ id, memo: { shop: 'north' }, priority: { priorityKey: 2 } },
        typedSearchAttributes: [{ key: team, value: 'garden' }],
      };
      // The server may take a moment to know a new search attribute.
      await eventually('the start', () =>
        campaigns.start({ manifest, priority: 4 }, options).catch(() => undefined),
      );
      expect(await campaigns.order(id, 'setPriority', { priority: 1 })).toMatchObject({ accepted: true });
      const handle = stack.server.client.workflow.getHandle(id);
      await eventually('a row in flight', async () => (await campaigns.state(id)).inFlight === 1);
      await handle.terminate('a mistake');
      for (const batch of [0, 1])
        await stack.server.client.workflow
          .getHandle(batchWorkflowId(id, batch))
          .terminate('a mistake')
          .catch(() => undefined);

      const { by } = await campaigns[order](id);
      expect(by).toBe('start');
      expect(await campaigns.state(id)).toMatchObject({ priority: 1 });
      const found = await handle.describe();
      expect(found.memo).toMatchObject({ shop: 'north' });
      expect(found.typedSearchAttributes.get(team)).toBe('garden');
      expect(found.priority).toMatchObject({ priorityKey: 2 });
      const { memo } = found;
      expect((memo?.['mediaCampaign'] as { readonly priority?: number } | undefined)?.priority).toBe(1);
      await handle.terminate('enough');
    },
  );
});
