import { join } from 'node:path';
import { createFileJournal } from '../../src/activities';
import { WORKFLOW } from '../../src/domain/names';
import { accepted } from '../support/accepted';
import { handMadeWorker } from '../support/hand-made-worker';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** Two journals on one queue buy one video twice, whoever made the workers: the binding is looked at where money is spent. */
describe('a worker put together by hand', () => {
  let stack: MediaStack;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  });
  afterAll(() => stack.stop());

  it('[C4.4a] buys nothing on a queue that creates with another journal, and says what to do', async () => {
    const taskQueue = stack.server.uniqueId('by-hand');
    const prompt = 'one video, two journals';
    expect(await order(taskQueue, 'one', prompt)).toMatchObject({ outcome: 'completed' });
    const refused = await order(taskQueue, 'two', prompt);
    expect(await accepted(stack, prompt)).toBe(1);
    expect(refused).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    const { message } = refused as { message: string };
    for (const told of [`media-journal/${taskQueue}`, taskQueue, 'MEDIA_JOURNAL', 'rebind'])
      expect(message).toContain(told);
    expect(message).not.toContain(stack.dataDir);
  });

  it('[C4.4a] finds what its own journal holds, in a later worker too', async () => {
    const taskQueue = stack.server.uniqueId('by-hand');
    const prompt = 'one video, one journal';
    expect(await order(taskQueue, 'same', prompt)).toMatchObject({ outcome: 'completed' });
    expect(await order(taskQueue, 'same', prompt)).toMatchObject({ outcome: 'completed' });
    expect(await accepted(stack, prompt)).toBe(1);
  });

  /** One order by a worker of its own with the journal of that name, always under the same key. */
  async function order(taskQueue: string, journal: string, prompt: string): Promise<unknown> {
    const root = join(stack.dataDir, taskQueue, journal);
    const worker = await handMadeWorker(
      stack,
      { journal: createFileJournal({ root }) },
      undefined,
      taskQueue,
    );
    return worker.runUntil(
      stack.server.client.workflow.execute(WORKFLOW.generateVideo, {
        taskQueue,
        workflowId: stack.server.uniqueId('order'),
        args: [
          {
            request: { model: 'cine-1', prompt, durationSeconds: 2 },
            creationKey: taskQueue,
            startLimit: 1000,
          },
        ],
      }),
    );
  }
});
