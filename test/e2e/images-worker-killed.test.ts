import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { accepted, received } from '../support/accepted';
import { startCrashingWorker } from '../support/crashing-process';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

/** A file of its own: that a worker is gone shows after its heartbeats have been missing for longer than ten seconds. */
describe('an image call whose worker is killed', () => {
  const stack = sharedStack({}, async () => undefined);

  it.concurrent('[C4.4a] a worker killed after the outcome was recorded: the images are there, paid once', async () => {
    const prompt = 'a lighthouse in a storm';
    const worker = await startCrashingWorker(await stack(), 'after_outcome');
    const started = await worker.media.startImage({
      request: { model: 'image-2', prompt, size: '512x512' },
    });
    await worker.gone;
    await worker.startSuccessor();
    const outcome = await started.result();
    if (outcome.outcome !== 'completed') throw new Error(outcome.outcome);
    const image = outcome.images[0];
    if (image == null) throw new Error('no image');
    const file = await readFile(
      join((await stack()).config.artifacts, 'sha256', image.sha256.slice(0, 2), image.sha256),
    );
    expect(createHash('sha256').update(file).digest('hex')).toBe(image.sha256);
    expect(PNG.sync.read(file)).toMatchObject({ width: 512, height: 512 });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C4.4c] a worker killed in the call: its successor waits for the sender and sends nothing', async () => {
    const prompt = '[lost-reply:stall] a lighthouse cut off';
    const { server } = await stack();
    const worker = await startCrashingWorker(await stack());
    const started = await worker.media.startImage({
      request: { model: 'image-2', prompt, size: '512x512' },
    });
    await eventually('the call', async () => (await accepted(await stack(), prompt)) === 1);
    await worker.kill();
    await worker.startSuccessor();
    const handle = server.client.workflow.getHandle(started.workflowId);
    await eventually('the successor at work', async () => {
      const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
      return (pending?.attempt ?? 0) > 2 && pending?.lastFailure?.message?.includes('may still be running');
    });
    await handle.terminate('the rest is minutes of waiting');
    expect(await received(await stack(), prompt)).toBe(1);
  });
});
