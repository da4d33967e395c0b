import { join } from 'node:path';
import { mediaJournalWorkflowId } from '../../src/domain/names';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** Whatever the code of a user does, it never runs in the ledger of a queue, and cannot stop it. */
describe('the ledger of a queue', () => {
  let stack: MediaStack;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  });
  afterAll(() => stack.stop());

  it('is bound by a worker whose bundle throws at its top level, and answers the good version after it', async () => {
    const workflowsPath = join(__dirname, '../support/throwing-workflows/index.js');
    const bad = await stack.startWorker({ media: { workflows: { workflowsPath } } });
    await bad.stop();
    const good = await stack.startWorker({ ownConnection: true });
    const started = await stack.media.startVideo({
      request: { model: 'cine-1', prompt: 'after the roll-back', durationSeconds: 2 },
    });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    await good.stop();
  });

  it('has no workflow task that anybody ran, and says what it is', async () => {
    const handle = stack.server.client.workflow.getHandle(mediaJournalWorkflowId(stack.taskQueue));
    const { events } = await handle.fetchHistory();
    const ran = (events ?? []).filter(
      (event) =>
        event.workflowTaskStartedEventAttributes ??
        event.workflowTaskFailedEventAttributes ??
        event.workflowTaskCompletedEventAttributes,
    );
    expect(ran).toEqual([]);
    const described = await handle.describe();
    expect(await described.staticSummary()).toContain('never terminate');
    expect(await described.staticDetails()).toContain(stack.taskQueue);
  });
});
