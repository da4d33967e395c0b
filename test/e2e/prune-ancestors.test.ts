import { type WorkflowHandle } from '@temporalio/client';
import { usedBy } from '../../packages/cli/src/journal/prune';
import { type Pruned, pruneJournal } from '../../packages/cli/src/journal/prune-journal';
import { type Connected } from '../../packages/cli/src/shared/connect';
import { isGrpcNotFound } from '../../src/client/workflow-service';
import { openRecords } from '../../src/stores/open-stores';
import { accepted } from '../support/accepted';
import { type Row, startCampaign } from '../support/campaign';
import { eventually } from '../support/eventually';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS } from '../support/test-bundle';

/**
 * Children and batches end, and the server forgets them, long before the workflow above them. A reset of that one asks
 * for their keys again (failure model: The log).
 */
describe('journal prune', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }, (started) =>
    started.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );

  /** As retention does: the server forgets this workflow. */
  async function forget(workflowId: string): Promise<void> {
    const { client, namespace } = (await stack()).server;
    const { workflowService } = client;
    await workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
    // The server takes half a minute.
    await eventually(
      `${workflowId} is forgotten`,
      () =>
        workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }).then(
          () => false,
          (error: unknown) => isGrpcNotFound(error),
        ),
      120_000,
    );
  }

  async function childrenOf(handle: WorkflowHandle): Promise<string[]> {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap(
      (event) => event.childWorkflowExecutionStartedEventAttributes?.workflowExecution?.workflowId ?? [],
    );
  }

  /** Removes what can no longer be asked for, as if everything was old. */
  async function prune(): Promise<Pruned> {
    const { config, server } = await stack();
    const { client, namespace } = server;
    return pruneJournal({
      records: await openRecords(config),
      before: new Date(Date.now() + 1_000),
      dryRun: false,
      inUse: usedBy({ client, namespace } as Connected),
    });
  }

  it.each([
    ['derived from its ids', {}],
    ['that it passed on', { creationKey: 'order-7' }],
  ])(
    '[C4.4a] keeps a key of a child that is forgotten while its parent can be reset: one %s',
    async (what, key) => {
      const { server, taskQueue } = await stack();
      const prompt = `bought for a parent with a key ${what}`;
      const parent = await server.client.workflow.start('buyOne', {
        taskQueue,
        workflowId: server.uniqueId('parent'),
        args: [{ request: { model: 'cine-1', prompt, durationSeconds: 2 }, ...key }],
      });
      await parent.result();
      const [child = ''] = await childrenOf(parent);
      await forget(child);
      expect(await prune()).toMatchObject({ removed: 0 });
      await (await resetWorkflow(server, parent.workflowId)).result();
      expect(await accepted(await stack(), prompt)).toBe(1);

      const [again = ''] = await childrenOf(server.client.workflow.getHandle(parent.workflowId));
      await Promise.all([again, parent.workflowId].map(forget));
      expect(await prune()).toMatchObject({ removed: 1 });
    },
  );

  it('[C4.4a] keeps the keys of batches that are forgotten while their campaign can be reset', async () => {
    const media = await stack();
    const rows: Row[] = ['a', 'b', 'c'].map((id) => ({
      id,
      model: 'cine-1',
      prompt: `row ${id} of a campaign that is reset`,
      duration: 2,
    }));
    rows.push({
      id: 'still',
      operation: 'image',
      model: 'image-2',
      prompt: 'a still of it',
      size: '512x512',
    });
    const campaign = await startCampaign(media, rows);
    await campaign.result();
    const batches = await childrenOf(campaign);
    expect(batches.length).toBeGreaterThan(0);
    await Promise.all(batches.map(forget));
    expect(await prune()).toMatchObject({ removed: 0 });
    const again = await resetWorkflow(media.server, campaign.workflowId);
    await again.result();
    const counts = await Promise.all(rows.map(({ prompt }) => accepted(media, String(prompt))));
    expect(counts).toEqual(rows.map(() => 1));
  });
});
