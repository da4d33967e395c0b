import { join } from 'node:path';
import { PNG } from 'pngjs';
import { FileArtifactStore } from '../../src/activities';
import { accepted } from '../support/accepted';
import { eventually } from '../support/eventually';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** Each try of a call may meet either worker; nobody knows how many it takes. */
const MAX_WAIT_MS = 300_000;

describe('what a worker lacks', () => {
  let stack: MediaStack;
  beforeEach(async () => {
    stack = await startMediaStack();
  });
  afterEach(() => stack.stop());

  const video = (prompt: string, options: object = {}) =>
    stack.media.startVideo({ request: { model: 'sketch-lite', prompt }, ...options });

  it(
    '[C4.4a] of two workers one has the credential: every video and image completes, each accepted once',
    async () => {
      await stack.startWorker();
      await stack.startWorker({ ownConnection: true, env: { MEDIA_CREDENTIAL: 'studio' } });
      const prompts = Array.from({ length: 5 }, (_, row) => `video ${row} of two credentials`);
      const videos = await Promise.all(prompts.map((prompt) => video(prompt)));
      const pictures = ['first', 'second'].map((which) => `the ${which} picture of two credentials`);
      const images = await Promise.all(
        pictures.map((prompt) => stack.media.images.start({ request: { model: 'image-2', prompt } })),
      );
      const ends = await Promise.all([...videos, ...images].map((started) => started.result()));
      expect(ends.map(({ outcome }) => outcome)).toEqual(ends.map(() => 'completed'));
      for (const prompt of [...prompts, ...pictures]) expect(await accepted(stack, prompt)).toBe(1);
    },
    MAX_WAIT_MS,
  );

  it(
    'an artifact that the store lacks is waited for: no edit is called invalid, and none is sent without it',
    async () => {
      await stack.startWorker();
      const png = new PNG({ width: 64, height: 64 });
      png.data.fill(120);
      const bytes = PNG.sync.write(png);
      const elsewhere = new FileArtifactStore(join(stack.dataDir, 'another-store'));
      const artifact = await elsewhere.putBuffer(bytes, { mediaType: 'image/png' });
      const edits = await Promise.all(
        Array.from({ length: 4 }, (_, row) =>
          stack.media.images.start(
            { request: { model: 'image-2', prompt: `edit ${row} of two stores`, images: [{ artifact }] } },
            { as: 'workflow' },
          ),
        ),
      );
      await eventually('an edit that waits', async () => {
        const { raw } = await stack.server.client.workflow.getHandle(edits[0]!.workflowId).describe();
        // Its first call has ended, and the workflow goes on.
        return Number(raw.workflowExecutionInfo?.historyLength) > 10 && raw.pendingActivities?.length === 0;
      });
      expect((await stack.sandbox.admin.counters()).images.received).toBe(0);
      await new FileArtifactStore(stack.config.artifacts).putBuffer(bytes, { mediaType: 'image/png' });
      const ends = await Promise.all(edits.map((started) => started.result()));
      expect(ends.map(({ outcome }) => outcome)).toEqual(ends.map(() => 'completed'));
      expect((await stack.sandbox.admin.counters()).images.accepted).toBe(4);
    },
    MAX_WAIT_MS,
  );

  it('no worker has it within the start limit: rejected, with what is missing', async () => {
    await stack.startWorker();
    const outcome = await (await video('for nobody', { account: 'nobody', startLimit: '3s' })).result();
    expect(outcome).toMatchObject({
      outcome: 'rejected',
      reason: 'account_not_configured',
      field: 'account',
      sends: 0,
      billing: { state: 'none' },
    });
    expect((outcome as { message: string }).message).toContain('does not have this account');
    expect(await accepted(stack, 'for nobody')).toBe(0);
  });
});
