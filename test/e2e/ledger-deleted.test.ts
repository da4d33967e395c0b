import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { mediaJournalWorkflowId, WORKFLOW } from '../../src/domain/names';
import { createFileJournal } from '../../src/journal/file-journal';
import { bindJournal, JournalBindingError } from '../../src/worker';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** What ran on a queue since, and was no paid call. */
const SINCE = 60;

describe('a queue whose ledger was deleted', () => {
  let stack: MediaStack;
  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  });
  afterAll(() => stack.stop());

  it('[C4.4a] is not taken for a new one, however much ran on it since its last paid call', async () => {
    const { server } = stack;
    const { namespace } = server;
    const worker = await handMadeWorker(stack);
    const { taskQueue } = worker;
    const workflowId = server.uniqueId('bought');
    const request = { model: 'cine-1', prompt: 'bought long ago', durationSeconds: 2 };
    const bought: unknown = await worker.runUntil(
      server.client.workflow.execute(WORKFLOW.generateVideo, { taskQueue, workflowId, args: [{ request }] }),
    );
    expect(bought).toMatchObject({ outcome: 'completed' });
    const ledger = { namespace, workflowExecution: { workflowId: mediaJournalWorkflowId(taskQueue) } };
    await server.client.workflowService.deleteWorkflowExecution(ledger);
    await Promise.all(
      Array.from({ length: SINCE }, () =>
        server.client.workflow.start('somethingElse', { taskQueue, workflowId: randomUUID() }),
      ),
    );
    await eventually('what ran since, and no ledger', async () => {
      const { count } = await server.client.workflow.count(`TaskQueue = "${taskQueue}"`);
      const gone = await server.client.workflow
        .getHandle(ledger.workflowExecution.workflowId)
        .describe()
        .catch(() => 'gone' as const);
      return count > SINCE && gone === 'gone';
    });
    const journal = createFileJournal({ root: join(stack.dataDir, 'another') });
    const client = new Client({ connection: server.client.connection, namespace });
    const refused: unknown = await bindJournal({ client, taskQueue, journal }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(JournalBindingError);
    expect((refused as Error).message).toContain(workflowId);
  });
});
