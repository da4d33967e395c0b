import { accepted } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';

/** A gateway may forget for minutes what it has accepted, and the id of our own create was paid for (architecture: Wait). */
describe('a task that the service does not find after it was created', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } });

  it.concurrent.each([
    ['longer than the grace, and then found', 19, '15m', { outcome: 'completed' }],
    [
      'to the deadline',
      0,
      '75s',
      { outcome: 'still_running', lastError: { class: 'not_found', httpStatus: 404 } },
    ],
  ])('[C2.2.1] [C3.4] is polled on: %s', async (what, times, waitFor, expected) => {
    const media = await stack();
    const prompt = `not found ${what}`;
    await media.sandbox.admin.addFaults([
      { operation: 'poll', promptIncludes: prompt, times, action: { type: 'status', status: 404 } },
    ]);
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    const started = await media.media.startVideo(
      { request, waitFor },
      { id: media.server.uniqueId('early') },
    );
    expect(await started.result()).toMatchObject(expected);
    expect(await accepted(media, prompt)).toBe(1);
  });
});
