import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { viewExecution, viewStandalone } from '../../packages/cli/src/shared/execution-state';
import { runsStandalone } from '../../src/client/workflow-service';
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
    const started = await worker.media.images.start({
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

  const places = [
    ['workflow', 'elsewhere'],
    ['activity', 'elsewhere'],
    ['workflow', 'here'],
    ['activity', 'here'],
  ] as const;
  it.concurrent.each(places)(
    '[C4.4a] [C4.4c] a worker killed in the call of a %s, %s: its successor sends nothing, and waits only for a sender that it cannot see',
    async (as, place) => {
      const prompt = `[lost-reply:stall] a lighthouse cut off in a ${as} ${place}`;
      const { server } = await stack();
      const { client, namespace } = server;
      if (as === 'activity' && !(await runsStandalone(client, namespace)))
        return void process.stdout.write('SKIPPED: this server runs no activity without a workflow\n');
      const own = { ELSEWHERE: place === 'elsewhere' ? '1' : '' };
      const worker = await startCrashingWorker(await stack(), undefined, own);
      const started = await worker.media.images.start(
        { request: { model: 'image-2', prompt, size: '512x512' } },
        { as },
      );
      await eventually('the call', async () => (await accepted(await stack(), prompt)) === 1);
      await worker.kill();
      await worker.startSuccessor();
      if (place === 'here') {
        // Minutes before the time of its sender ends.
        expect(await started.result()).toMatchObject({
          outcome: 'unconfirmed',
          billing: { state: 'needs_review' },
        });
      } else {
        const { workflowId } = started;
        const call = async () =>
          as === 'activity'
            ? viewStandalone(client, workflowId)
            : (await viewExecution(client, workflowId, () => undefined))?.pendingActivities[0];
        await eventually('the successor at work', async () => {
          const { attempt = 0, lastFailure = null } = (await call()) ?? {};
          return attempt > 2 && lastFailure?.includes('may still be running');
        });
        const handle =
          as === 'activity' ? client.activity.getHandle(workflowId) : client.workflow.getHandle(workflowId);
        await handle.terminate('the rest is minutes of waiting');
      }
      expect(await received(await stack(), prompt)).toBe(1);
    },
  );
});
