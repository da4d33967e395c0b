import { type WorkflowHandle } from '@temporalio/client';
import { WORKFLOW } from '../../src/domain/names';
import { accepted } from '../support/accepted';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { alwaysBound } from '../support/queue-binding';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS } from '../support/test-bundle';

const KINDS = [
  ['a video', WORKFLOW.generateVideo, { model: 'cine-1', durationSeconds: 2 }],
  ['an image', WORKFLOW.generateImage, { model: 'image-2' }],
] as const;

/** What nobody has looked up is not called free after a reset: the run before it may have bought (C1.8). */
describe('a reset run whose workers cannot read the log of its key', () => {
  const stack = sharedStack(
    { sandbox: { timing: { queuedMs: 0, runningMs: 60_000 } } },
    async () => undefined,
  );

  /** Buys in a first run, resets it to its beginning, and gives the new run to workers that read no log. */
  async function bought(
    [type, ...args]: readonly [type: string, ...args: unknown[]],
    prompt: string,
    whatFollows: (second: WorkflowHandle) => Promise<void>,
  ): Promise<void> {
    const media = await stack();
    let isBound = true;
    const worker = await handMadeWorker(
      media,
      {
        standing: async () =>
          isBound ? alwaysBound() : { bound: false, message: 'The queue belongs to another journal.' },
      },
      undefined,
      undefined,
      TEST_WORKFLOWS,
    );
    await worker.runUntil(async () => {
      const { workflowId } = await media.server.client.workflow.start(type, {
        taskQueue: worker.taskQueue,
        workflowId: media.server.uniqueId('unread'),
        args,
      });
      await eventually('the purchase', async () => (await accepted(media, prompt)) === 1 || undefined);
      isBound = false;
      await whatFollows(await resetWorkflow(media.server, workflowId));
    });
    expect(await accepted(media, prompt)).toBe(1);
  }

  it.concurrent.each(KINDS)('%s: it ends after the start limit', async (name, type, facts) => {
    const prompt = `an egret, ${name} after its start limit`;
    await bought([type, { request: { ...facts, prompt }, startLimit: '1s' }], prompt, async (second) => {
      expect(await second.result()).toMatchObject({
        outcome: 'rejected',
        reason: 'not_sent',
        billing: { state: 'needs_review' },
      });
    });
  });

  it.concurrent.each(KINDS)('%s: it is cancelled while it waits', async (name, type, facts) => {
    const prompt = `an egret, ${name} cancelled in a wait`;
    await bought([type, { request: { ...facts, prompt } }], prompt, async (second) => {
      await eventually('a wait', async () =>
        (await second.fetchHistory()).events?.some((event) =>
          /wait before/.test(Buffer.from(event.userMetadata?.summary?.data ?? new Uint8Array()).toString()),
        ),
      );
      await second.cancel();
      expect(await second.result()).toMatchObject({
        outcome: 'cancelled',
        video: null,
        billing: { state: 'needs_review' },
      });
    });
  });

  it.concurrent('a create of a workflow of its own, in the run that continues from it', async () => {
    const prompt = 'an egret, continued as new';
    const request = { ...KINDS[0][2], prompt };
    const key = (await stack()).server.uniqueId('key');
    await bought(['handsACreateOver', key, request, 6_000], prompt, async (second) => {
      const result: unknown = await second.result();
      expect(result).toMatchObject({
        kind: 'settled',
        answer: { outcome: 'rejected', reason: 'not_sent', mayBeOwed: true },
      });
      expect((await second.describe()).status.name).toBe('CONTINUED_AS_NEW');
    });
  });
});
