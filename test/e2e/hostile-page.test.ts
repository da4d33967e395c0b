import { monitorEventLoopDelay } from 'node:perf_hooks';
import { accepted } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';

/** Whatever a service or a proxy sends in place of a file: what is kept of it costs time in proportion to its length. */
describe('pages in place of a file', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } });
  /** Four downloads of such a page stopped everything in a worker for 30 s. */
  const LONGEST_STOP_MS = 5_000;

  it('[C5.4b] [C4.3] that are full of beginnings of addresses do not stop a worker', async () => {
    const media = await stack();
    const raw = `<!doctype html><title>Error</title>${'a://'.repeat(30_000)}`;
    await media.sandbox.admin.addFaults([
      {
        operation: 'content',
        promptIncludes: 'a page of addresses',
        times: 4,
        action: { type: 'status', status: 200, raw, contentType: 'video/mp4' },
      },
    ]);
    const delay = monitorEventLoopDelay();
    delay.enable();
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map(async (number) => {
        const request = { model: 'cine-1', prompt: `a page of addresses ${number}`, durationSeconds: 2 };
        return (await media.media.startVideo({ request })).result();
      }),
    );
    delay.disable();
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 4 }, () => 'completed'));
    expect(delay.max / 1e6).toBeLessThan(LONGEST_STOP_MS);
    expect(await accepted(media, 'a page of addresses 1')).toBe(1);
  });
});
