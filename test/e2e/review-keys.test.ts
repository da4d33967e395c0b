import { type ImageOutcome, type VideoOutcome } from '../../src/domain';
import { WORKFLOW } from '../../src/domain/names';
import { received } from '../support/accepted';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS } from '../support/test-bundle';
import { type Bought } from '../support/workflows/buyers';

/** Untyped callers send null or '' for "no key": two of them must never share one (architecture: Create). */
describe('a creation key that is none', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } }, (started) =>
    started.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );

  async function execute(type: string, request: object, creationKey: unknown): Promise<unknown> {
    const { server, taskQueue } = await stack();
    const workflowId = server.uniqueId('keyless');
    return server.client.workflow.execute(type, {
      taskQueue,
      workflowId,
      args: [{ request, creationKey }],
    });
  }

  const videoOf = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });
  const imageOf = (prompt: string) => ({ model: 'image-2', prompt });

  it.concurrent.each([null, ''])('generateVideo with %j: two callers get two videos', async (key) => {
    const prompt = `a video for key ${JSON.stringify(key)}`;
    const [first, second] = (await Promise.all(
      [1, 2].map(() => execute(WORKFLOW.generateVideo, videoOf(prompt), key)),
    )) as VideoOutcome[];
    if (first?.outcome !== 'completed' || second?.outcome !== 'completed')
      throw new Error(`${first?.outcome} and ${second?.outcome}`);
    expect(first.video.taskId).not.toBe(second.video.taskId);
    expect(await received(await stack(), prompt)).toBe(2);
  });

  it.concurrent.each([null, ''])('generateImage with %j: two callers get two images', async (key) => {
    const prompt = `an image for key ${JSON.stringify(key)}`;
    const both = (await Promise.all(
      [1, 2].map(() => execute(WORKFLOW.generateImage, imageOf(prompt), key)),
    )) as ImageOutcome[];
    expect(both.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
    expect(await received(await stack(), prompt)).toBe(2);
  });

  it.concurrent.each([
    [WORKFLOW.generateVideo, videoOf('a video for a number')],
    [WORKFLOW.generateImage, imageOf('an image for a number')],
  ])('%s with a number: refused, and nothing is sent', async (type, request) => {
    expect(await execute(type, request, 5)).toMatchObject({
      outcome: 'rejected',
      reason: 'creation_key_required',
      field: 'creationKey',
      sends: 0,
    });
    expect(await received(await stack(), request.prompt)).toBe(0);
  });

  it.concurrent('executeVideo with a number: refused by the caller itself', async () => {
    const prompt = 'a child for a number';
    const { outcomes } = (await execute('buyOne', videoOf(prompt), 5)) as Bought;
    expect(outcomes).toMatchObject([{ outcome: 'rejected', reason: 'creation_key_required' }]);
    expect(await received(await stack(), prompt)).toBe(0);
  });

  it.concurrent.each([null, ''])(
    '[C4.4a] executeVideo with %j: the child has a key of its parent, and a reset of the parent adopts the video',
    async (creationKey) => {
      const prompt = `a child for key ${JSON.stringify(creationKey)}`;
      const { server, media, taskQueue } = await stack();
      const workflowId = server.uniqueId('parent');
      const parent = await server.client.workflow.start('buyOne', {
        taskQueue,
        workflowId,
        args: [{ request: videoOf(prompt), creationKey }],
      });
      const first = (await parent.result()) as Bought;
      const [bought] = first.outcomes;
      if (bought?.outcome !== 'completed') throw new Error(bought?.outcome);
      const { taskId } = bought.video;
      expect((await media.findTask(taskId)).creationKey).toBe(
        `media-run/${workflowId}/${first.facts.original}/0`,
      );
      const again = (await (await resetWorkflow(server, workflowId)).result()) as Bought;
      expect(again.facts.runId).not.toBe(first.facts.runId);
      expect(again.outcomes).toMatchObject([{ outcome: 'completed', video: { taskId } }]);
      expect(await received(await stack(), prompt)).toBe(1);
    },
  );
});
