import { sharedStack } from '../support/shared-stack';

/** Longer than the grace that an id has of which nobody ever saw a record. */
const FORGOTTEN_MS = 66_000;

/** A gateway that loses its tasks for a while, and finds them again. */
describe('a task that the service forgets after it was polled well', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 5_000 } } });

  it('[C7.2] is waited for beyond the grace of a minute, and fetched once the service knows it again', async () => {
    const { media, sandbox } = await stack();
    const notFound = { status: 404, body: { error: { message: 'no such task' } } };
    await sandbox.admin.addFaults([
      { operation: 'poll', skip: 1, times: 0, action: { type: 'status', ...notFound } },
    ]);
    const request = { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 };
    const handle = await media.startVideo({ request, waitFor: '5 minutes' });
    const forgotten = new Date();
    for await (const { watch } of media.watch(handle.workflowId)) {
      if (watch?.lastError?.class !== 'not_found') continue;
      if (Date.parse(watch.lastPollAt ?? '') - forgotten.getTime() >= FORGOTTEN_MS) break;
    }
    await sandbox.admin.clearFaults();
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    const { creates } = await sandbox.admin.counters();
    expect(creates).toEqual({ received: 1, accepted: 1 });
  }, 300_000);
});
