import { defaultPayloadConverter, type WorkflowHandle } from '@temporalio/client';
import { accepted } from '../support/accepted';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS } from '../support/test-bundle';
import { type Bought } from '../support/workflows/buyers';

/** Long enough to create or to adopt; that a wait ends with the video is proved elsewhere. */
const waitFor = '1s';

/** When a caller runs again and when not; the ways to run again are the key matrix of test/proof/temporal-faults. */
describe('a workflow that runs again', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 1_000 } } }, (started) =>
    started.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );

  const request = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });

  async function start(type: string, args: unknown[], options: object = {}): Promise<WorkflowHandle> {
    const { server, taskQueue } = await stack();
    const workflowId = server.uniqueId(type);
    return server.client.workflow.start(type, { taskQueue, workflowId, args, ...options });
  }

  /** The result of one run: a handle's own result() would follow the schedule for ever. */
  async function resultOf(workflowId: string, runId: string): Promise<Bought | undefined> {
    const { events } = await (
      await stack()
    ).server.client.workflow
      .getHandle(workflowId, runId)
      .fetchHistory();
    const result = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0];
    return result == null ? undefined : defaultPayloadConverter.fromPayload<Bought>(result);
  }

  const taskIds = ({ outcomes }: Bought) =>
    outcomes.map((outcome) => ('video' in outcome ? outcome.video?.taskId : undefined));

  it.concurrent('a third attempt needs a key of the caller, and buys nothing without one', async () => {
    const prompt = '[run:60s] a parent retried twice';
    const handle = await start('buyThenFail', [{ request: request(prompt), waitFor }, 3], {
      retry: { maximumAttempts: 3, initialInterval: '1s', backoffCoefficient: 1 },
    });
    const bought = (await handle.result()) as Bought;
    expect(bought.outcomes).toMatchObject([
      { outcome: 'rejected', reason: 'creation_key_required', field: 'creationKey' },
    ]);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('with a key of the caller every attempt adopts the same video', async () => {
    const prompt = '[run:60s] a keyed parent';
    const creationKey = (await stack()).server.uniqueId('order');
    const handle = await start('buyThenFail', [{ request: request(prompt), creationKey, waitFor }, 3], {
      retry: { maximumAttempts: 3, initialInterval: '1s', backoffCoefficient: 1 },
    });
    const bought = (await handle.result()) as Bought;
    expect(bought.outcomes).toMatchObject([{ outcome: 'still_running' }]);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('asking twice for the same video in one run buys two', async () => {
    const prompt = 'a pair of cranes';
    const bought = (await (await start('buyTwice', [{ request: request(prompt) }])).result()) as Bought;
    expect(new Set(taskIds(bought)).size).toBe(2);
    expect(await accepted(await stack(), prompt)).toBe(2);
  });

  it.concurrent('the id of a child says whose it is', async () => {
    const handle = await start('buyOne', [{ request: request('[run:60s] of a buyer'), waitFor }]);
    expect(((await handle.result()) as Bought).outcomes).toMatchObject([{ outcome: 'still_running' }]);
    const { events } = await handle.fetchHistory();
    const ids = (events ?? []).flatMap(
      (event) => event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId ?? [],
    );
    expect(ids).toEqual([expect.stringMatching(/^buyOne\/video\/[0-9a-f-]{36}$/)]);
  });

  it.concurrent('a retry behind a continue-as-new is refused before anything is sent', async () => {
    const prompt = 'behind a continue-as-new';
    const handle = await start('continueThenFailThenBuy', [{ request: request(prompt) }], {
      retry: { maximumAttempts: 2, initialInterval: '1s' },
    });
    const bought = (await handle.result()) as Bought;
    expect(bought.outcomes).toMatchObject([{ outcome: 'rejected', reason: 'creation_key_required' }]);
    expect(await accepted(await stack(), prompt)).toBe(0);
  });

  it.concurrent('a retry in a cron run is refused, and the cron run before it bought its own', async () => {
    const prompt = 'every few seconds';
    const handle = await start('buyThenFail', [{ request: request(prompt) }, 2], {
      cronSchedule: '@every 1s',
      retry: { maximumAttempts: 2, initialInterval: '1s' },
    });
    const closed = await eventually('the result of a cron run', async () => {
      const runs = (await stack()).server.client.workflow.list({
        query: `WorkflowId = '${handle.workflowId}' AND ExecutionStatus = 'Completed'`,
      });
      for await (const { workflowId, runId } of runs) return resultOf(workflowId, runId);
      return undefined;
    });
    await handle.terminate('seen enough');
    expect(closed).toMatchObject({ outcomes: [{ outcome: 'rejected', reason: 'creation_key_required' }] });
  });
});
