import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { usedBy } from '../../packages/cli/src/journal/prune';
import { pruneJournal } from '../../packages/cli/src/journal/prune-journal';
import { type Connected } from '../../packages/cli/src/shared/connect';
import { type ImageOutcome } from '../../src/domain';
import { ACTIVITY, activityQueues } from '../../src/domain/names';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { openArtifactStore, openRecords } from '../../src/stores/open-stores';
import { runJson } from '../cli/support/run-cli';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { startMediaStack, type MediaStack, type RunningWorker } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';

const DAY_MS = 86_400_000;

/** A server of 1.32 runs activities that no workflow has scheduled: guards know them, and their id is their key. */
describe('a paid call without a workflow', () => {
  let stack: MediaStack;
  let worker: RunningWorker;
  let isServed = false;
  beforeAll(async () => {
    stack = await startMediaStack({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 200 } },
    });
    const { client, namespace } = stack.server;
    const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
    isServed = namespaceInfo?.capabilities?.standaloneActivities === true;
    worker = await stack.startWorker();
  });
  afterAll(() => stack.stop());

  /** Older servers do not have them. */
  const test = (title: string, body: () => Promise<void>): void =>
    it(title, async () => {
      if (isServed) await body();
      else process.stdout.write(`SKIPPED ${title}: this server runs no activity without a workflow\n`);
    });

  const request = (prompt: string) => ({ model: 'image-2', prompt, size: '512x512' });
  const options = (id: string) => ({
    id,
    taskQueue: activityQueues(stack.taskQueue).image,
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '10 seconds',
  });
  const draw = (id: string, prompt: string, input: object = {}): Promise<ImageOutcome> =>
    stack.server.client.activity.execute(ACTIVITY.generateImage, {
      ...options(id),
      args: [{ request: request(prompt), ...input }],
    });

  test('[C4.4a] with the same id buys once, and a workflow with this id finds it', async () => {
    const prompt = 'drawn under one id';
    const id = stack.server.uniqueId('drawn');
    const first = await draw(id, prompt);
    expect(first).toMatchObject({ outcome: 'completed' });
    expect(await draw(id, prompt)).toEqual({ ...first, billing: expect.anything() as unknown });
    const started = await stack.media.images.start({ request: request(prompt) }, { id });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(stack, prompt)).toBe(1);
    expect(await draw(id, 'another request')).toMatchObject({
      outcome: 'rejected',
      reason: 'creation_key_conflict',
    });
    expect(await draw(`media-run/${id}`, prompt)).toMatchObject({ reason: 'creation_key_required' });
  });

  test('[C8.6] ends after a few attempts where its policy sets no limit', async () => {
    const outcome = await draw(stack.server.uniqueId('nobody'), 'of nobody', { account: 'nobody' });
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'account_not_configured' });
    expect(await received(stack, 'of nobody')).toBe(0);
  });

  test('keeps its input picture from a prune of artifacts while it is open, and its key from one of the journal', async () => {
    const store = await openArtifactStore(stack.config);
    const picture = await draw(stack.server.uniqueId('picture'), 'a picture to edit');
    if (picture.outcome !== 'completed') throw new Error(picture.outcome);
    const [image] = picture.images;
    const copied = await store.putBuffer(
      Buffer.concat([await bufferOf(await store.read(image!)), Buffer.from('a copy')]),
      { mediaType: 'image/png' },
    );
    const prompt = 'an edit that takes long';
    await stack.sandbox.admin.addFaults([
      { operation: 'edit', promptIncludes: prompt, action: { type: 'delay', ms: 20_000 } },
    ]);
    const { client, namespace } = stack.server;
    const id = stack.server.uniqueId('edit');
    const edit = await client.activity.start(ACTIVITY.editImage, {
      ...options(id),
      args: [{ request: { ...request(prompt), images: [{ artifact: copied }] } }],
    });
    await eventually(
      'the edit',
      async () => (await stack.sandbox.admin.requests({ operation: 'edit' })).length > 0,
    );
    const then = new Date(Date.now() - 5 * DAY_MS);
    const file = join(stack.config.artifacts, 'sha256', copied.sha256.slice(0, 2), copied.sha256);
    await utimes(file, then, then);
    const pruned = await runJson(['artifacts', 'prune', '--older-than', '1d'], stack.env);
    expect([pruned.code, pruned.reply.error]).toEqual([0, undefined]);
    expect((await store.list(null, 1_000)).map(({ sha256 }) => sha256)).toContain(copied.sha256);
    expect(await edit.result()).toMatchObject({ outcome: 'completed' });

    const kept = await pruneJournal({
      records: await openRecords(stack.config),
      before: new Date(Date.now() + 1_000),
      dryRun: true,
      inUse: usedBy({ client, namespace } as Connected),
    });
    expect(kept).toMatchObject({ removed: 0 });
  });

  test('of a video is not an orphan once it has returned its task', async () => {
    const answer: CreateVideoAnswer = await stack.server.client.activity.execute(ACTIVITY.createVideo, {
      ...options(stack.server.uniqueId('film')),
      taskQueue: activityQueues(stack.taskQueue).create,
      retry: { maximumAttempts: 1 },
      args: [
        {
          creationKey: stack.server.uniqueId('film'),
          request: { model: 'cine-1', prompt: 'a film of an activity', durationSeconds: 2 },
        },
      ],
    });
    if (answer.outcome !== 'created') throw new Error(answer.outcome);
    const orphans = await runJson(['orphans'], stack.env);
    expect(orphans.code).toBe(0);
    expect(orphans.reply.data).toMatchObject({ orphans: [] });
  });

  // The last one: it takes the journal away.
  test('[C4.4a] is found by a rebind to an empty journal, which does not let its id buy again', async () => {
    const prompt = 'drawn before the journal was lost';
    const id = stack.server.uniqueId('lost');
    expect(await draw(id, prompt)).toMatchObject({ outcome: 'completed' });
    const other = `${stack.config.journal}-other`;
    await worker.stop();
    worker = await stack.startWorker({ env: { MEDIA_JOURNAL: other }, rebind: true });
    expect(await draw(id, prompt)).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { cause: 'journal_changed' },
    });
    expect(await accepted(stack, prompt)).toBe(1);
  });
});

async function bufferOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
