import manifest from '../../package.json';
import { writtenBy } from '../../packages/replay/src/verdict';
import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { VERSION_MEMO } from '../../src/domain/names';
import { type VideoState } from '../../src/domain/video-state';
import { storedManifest } from '../support/campaign';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS } from '../support/test-bundle';

/** Who reads a history has to know with which version of the package it was started. */
describe('the version of the package is in the history of', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } }, (made) =>
    made.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );
  const request = { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 };

  async function versionOf(workflowId: string): Promise<string | null> {
    const { server } = await stack();
    return writtenBy(await server.client.workflow.getHandle(workflowId).fetchHistory()).package;
  }

  it('a video, beside the memo of the user, and of its watcher', async () => {
    const { media, server } = await stack();
    const input = { request: { ...request, prompt: 'a kite [run:6s]' }, polling: 'shared' } as const;
    const video = await media.startVideo(input, { memo: { order: 7 } });
    const { workflowId } = video;
    const handle = server.client.workflow.getHandle(workflowId);
    const watcher = await eventually(
      'a watcher',
      async () => (await handle.query<VideoState>('video_state')).watcher,
    );
    await video.result();
    expect((await handle.describe()).memo).toMatchObject({ order: 7, [VERSION_MEMO]: manifest.version });
    expect(await versionOf(workflowId)).toBe(manifest.version);
    expect(await versionOf(watcher)).toBe(manifest.version);
  });

  it('an image, a wait, and a video that another workflow buys', async () => {
    const { media, server, taskQueue } = await stack();
    const image = await media.images.start(
      { request: { model: 'image-2', prompt: 'a kite' } },
      { as: 'workflow' },
    );
    const video = await media.startVideo({ request, waitFor: '1ms' });
    const [, outcome] = await Promise.all([image.result(), video.result()]);
    if (!('video' in outcome) || outcome.video === null) throw new Error(outcome.outcome);
    const wait = await media.startAwait(outcome.video);
    await wait.result();
    const parent = server.uniqueId('buyer');
    const start = { taskQueue, workflowId: parent, args: [{ request }] };
    await server.client.workflow.execute('buyOne', start);
    const { events } = await server.client.workflow.getHandle(parent).fetchHistory();
    const child = events?.flatMap(
      (event) => event.childWorkflowExecutionStartedEventAttributes?.workflowExecution?.workflowId ?? [],
    );
    for (const id of [image.workflowId, wait.workflowId, child?.[0] ?? ''])
      expect(await versionOf(id)).toBe(manifest.version);
    // The user's own workflow is none of ours.
    expect(await versionOf(parent)).toBeNull();
  });

  it('a campaign and its batches', async () => {
    const made = await stack();
    const id = made.server.uniqueId('spring');
    const rows = [{ id: 'one', model: 'cine-1', prompt: 'a hill', duration: 2 }];
    const started = await made.media.campaigns.start({ manifest: await storedManifest(made, rows) }, { id });
    await started.result();
    for (const workflowId of [id, batchWorkflowId(id, 0)])
      expect(await versionOf(workflowId)).toBe(manifest.version);
  });

  it('what a client looks up', async () => {
    const { media, server } = await stack();
    const starts = jest.spyOn(server.client.workflow, 'execute');
    await media.findTask('task-1');
    await media.artifactStore();
    await media.reviewJournal({ list: 'created' });
    await media.resolveUnconfirmed({
      creationKey: 'none',
      decision: 'declareLost',
      by: 'me',
      reason: 'seen',
    });
    const ids = starts.mock.calls.map(([, { workflowId }]) => workflowId);
    expect(ids).toEqual(
      [
        'find-video-task',
        'artifact-store',
        'review-journal',
        'review-journal',
        'review-journal',
        'resolve-unconfirmed',
      ].map((kind) => expect.stringMatching(`^${kind}/`) as string),
    );
    for (const id of ids) expect(await versionOf(id)).toBe(manifest.version);
  });
});
