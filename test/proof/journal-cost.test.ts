import { type MediaActivityDeps } from '../../src/activities';
import { WORKFLOW } from '../../src/domain';
import { handMadeWorker } from '../support/hand-made-worker';
import { proved } from '../support/proof';
import { sharedStack } from '../support/shared-stack';

// The first poll finds the video ready, so that both histories have the same ticks.
const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 0 } } }, async () => undefined);

const counts = { withJournal: 0, withoutJournal: 0, added: 0 };

/** Types of the events of one video, in order. */
async function eventsOf(name: string, deps: Partial<MediaActivityDeps>): Promise<string[]> {
  const { server } = await stack();
  const worker = await handMadeWorker(await stack(), deps);
  const workflowId = server.uniqueId(name);
  const outcome: unknown = await worker.runUntil(
    server.client.workflow.execute(WORKFLOW.generateVideo, {
      taskQueue: worker.taskQueue,
      workflowId,
      args: [{ request: { model: 'cine-1', prompt: 'a lighthouse and its book', durationSeconds: 2 } }],
    }),
  );
  expect(outcome).toMatchObject({ outcome: 'completed' });
  const { events } = await server.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).map(({ eventType }) => String(eventType));
}

afterAll(() => {
  proved('journal-cost', {
    'history events with the journal': counts.withJournal,
    'history events without it': counts.withoutJournal,
    'history events that the journal adds': counts.added,
  });
});

describe('what the journal costs a history', () => {
  it('is nothing: event by event, a video with the journal is one without', async () => {
    const [withJournal, without] = await Promise.all([
      eventsOf('book', {}),
      eventsOf('no-book', { journal: 'none' }),
    ]);
    counts.withJournal = withJournal.length;
    counts.withoutJournal = without.length;
    counts.added = withJournal.length - without.length;
    expect(withJournal).toEqual(without);
  });
});
