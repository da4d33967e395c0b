import { readFile } from 'node:fs/promises';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { NexusOperationFailure, TimeoutFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { type VideoOutcome } from '../../../src/domain';
import { accepted } from '../../support/accepted';
import { storedManifest } from '../../support/campaign';
import { eventually } from '../../support/eventually';
import { type MediaStack } from '../../support/media-stack';
import { sharedStack } from '../../support/shared-stack';
import { connectTestServer, ownNamespace, type TestServer } from '../../support/temporal';
import { testBundle } from '../../support/test-bundle';

/** Callers in a namespace of their own, and the endpoint by which they reach the media workers. */
interface Callers {
  readonly server: TestServer;
  readonly taskQueue: string;
  readonly endpoint: string;
  stop(): Promise<void>;
}

async function startCallers({ server: media, taskQueue: mediaQueue }: MediaStack): Promise<Callers> {
  const server = await connectTestServer(await ownNamespace());
  const endpoint = server.uniqueId('media');
  await media.client.connection.operatorService.createNexusEndpoint({
    spec: { name: endpoint, target: { worker: { namespace: media.namespace, taskQueue: mediaQueue } } },
  });
  const taskQueue = server.uniqueId('callers');
  const worker = await Worker.create({
    connection: server.nativeConnection,
    namespace: server.namespace,
    taskQueue,
    workflowBundle: await testBundle(require.resolve('./callers')),
  });
  const running = worker.run();
  return {
    server,
    taskQueue,
    endpoint,
    stop: async () => {
      worker.shutdown();
      await running;
      await server.close();
    },
  };
}

describe('the Nexus service media', () => {
  let callers: Promise<Callers>;
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } }, async (made) => {
    await made.startWorker({ env: { MEDIA_NEXUS: '1' } });
    callers = startCallers(made);
  });
  afterAll(async () => (await callers).stop());

  async function start(type: string, args: readonly unknown[]): Promise<WorkflowHandle> {
    await stack();
    const { server, taskQueue } = await callers;
    return server.client.workflow.start(type, {
      taskQueue,
      workflowId: server.uniqueId(type),
      args: [...args],
    });
  }

  async function call(operation: string, input: unknown): Promise<unknown> {
    await stack();
    const handle = await start('callMedia', [(await callers).endpoint, operation, input]);
    return handle.result();
  }

  const video = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });
  const order = async (name: string) => (await stack()).server.uniqueId(name);

  it.concurrent('the bundle of a caller holds the contract, and nothing of the workflows', async () => {
    await stack();
    const bundle = await testBundle(require.resolve('./callers'));
    const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
    expect(code).toContain('releaseTrailer');
    expect(code).not.toMatch(/media\.createVideo|pollVideos/);
  });

  it.concurrent('a caller in another namespace gets the outcome of its video', async () => {
    await stack();
    const release = await order('release');
    const handle = await start('releaseTrailer', [release, (await callers).endpoint]);
    expect(await handle.result()).toMatchObject({
      outcome: 'completed',
      artifact: { mediaType: 'video/mp4' },
    });
    expect(await accepted(await stack(), `a trailer for ${release}`)).toBe(1);
    // The workflow has the key as its id, in the namespace of the media workers.
    const owner = (await stack()).server.client.workflow.getHandle(`${handle.workflowId}/trailer`);
    expect((await owner.describe()).type).toBe('generateVideo');
  });

  it.concurrent('[C4.5] a caller that is reset before its video has ended does not buy it twice', async () => {
    await stack();
    const release = `[run:4s] ${await order('release')}`;
    const handle = await start('releaseTrailer', [release, (await callers).endpoint]);
    const { client, namespace } = (await callers).server;
    await eventually(
      'the create accepted',
      async () => (await accepted(await stack(), `a trailer for ${release}`)) === 1,
    );
    const { runId } = await client.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: handle.workflowId },
      workflowTaskFinishEventId: 3 as never,
      requestId: handle.workflowId,
      reason: 'test',
    });
    const again = client.workflow.getHandle(handle.workflowId, runId ?? '');
    expect(await again.result()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(await stack(), `a trailer for ${release}`)).toBe(1);
  });

  it.concurrent('the same key again attaches, gets the first outcome, and refuses another request', async () => {
    const creationKey = await order('order');
    const prompt = `a kite ${creationKey}`;
    const [first, second] = await Promise.all([
      call('generateVideo', { creationKey, request: video(prompt) }),
      call('generateVideo', { creationKey, request: video(prompt) }),
    ]);
    expect(first).toMatchObject({ outcome: 'completed' });
    expect(second).toEqual(first);
    // Closed by now: known at once.
    expect(await call('generateVideo', { creationKey, request: video(prompt) })).toEqual(first);
    expect(await call('generateVideo', { creationKey, request: video('another') })).toMatchObject({
      outcome: 'rejected',
      reason: 'creation_key_conflict',
      sends: 0,
    });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('images and edits are operations too', async () => {
    const creationKey = await order('poster');
    const request = { model: 'image-2', prompt: `a poster ${creationKey}`, size: '1024x1024' };
    const image = (await call('generateImage', { creationKey, request })) as { images: { sha256: string }[] };
    expect(image).toMatchObject({ outcome: 'completed', images: [{ mediaType: 'image/png' }] });
    const edit = {
      model: 'image-2',
      prompt: 'the same at night',
      images: [{ artifact: image.images[0] }],
    };
    expect(await call('editImage', { creationKey: `${creationKey}/night`, request: edit })).toMatchObject({
      outcome: 'completed',
    });
  });

  it.concurrent('a wait goes on from its task', async () => {
    const creationKey = await order('long');
    const running = (await call('generateVideo', {
      creationKey,
      request: video(`[run:12s] ${creationKey}`),
      waitFor: '1 second',
    })) as Extract<VideoOutcome, { outcome: 'still_running' }>;
    expect(running.outcome).toBe('still_running');
    const both = await Promise.all([
      call('awaitVideo', { video: running.video }),
      call('awaitVideo', { video: running.video }),
    ]);
    for (const outcome of both) expect(outcome).toMatchObject({ outcome: 'completed' });
  });

  it.concurrent('a campaign', async () => {
    const id = await order('campaign');
    const rows = [1, 2].map((n) => ({ id: `${n}`, model: 'cine-1', prompt: `film ${n} ${id}`, duration: 2 }));
    const manifest = await storedManifest(await stack(), rows);
    const result = await call('campaign', { id, manifest });
    expect(result).toMatchObject({ counts: { completed: 2 } });
    // The same id again: it has ended, every row is there, nothing is bought.
    expect(await call('campaign', { id, manifest })).toMatchObject({ counts: { completed: 2 } });
    expect(await accepted(await stack(), `film 1 ${id}`)).toBe(1);
  });

  it.concurrent('a cancelled operation cancels its workflow, and names its task', async () => {
    const creationKey = await order('cancelled');
    const prompt = `[run:60s] ${creationKey}`;
    await stack();
    const handle = await start('callMedia', [
      (await callers).endpoint,
      'generateVideo',
      { creationKey, request: video(prompt) },
    ]);
    await eventually('the create accepted', async () => (await accepted(await stack(), prompt)) === 1);
    await handle.cancel();
    // The task is paid: whoever cancels the operation gets its id.
    const outcome: unknown = await handle.result();
    expect(outcome).toMatchObject({ outcome: 'cancelled', video: { model: 'cine-1' } });
    const owner = (await stack()).server.client.workflow.getHandle(creationKey);
    expect(await owner.result()).toEqual(outcome);
  });

  it.concurrent('an operation that runs into its own limit cancels nothing: the same key finds the video', async () => {
    const creationKey = await order('late');
    const input = { creationKey, request: video(`[run:8s] ${creationKey}`) };
    const late = await start('callMedia', [(await callers).endpoint, 'generateVideo', input, '3 seconds']);
    const failed: unknown = await late.result().catch((error: unknown) => error);
    expect((failed as WorkflowFailedError).cause?.cause).toBeInstanceOf(TimeoutFailure);
    expect(await call('generateVideo', input)).toMatchObject({ outcome: 'completed' });
    expect(await accepted(await stack(), input.request.prompt)).toBe(1);
  });

  it.concurrent.each([
    ['generateVideo', { request: video('no key') }, { outcome: 'rejected', field: 'creationKey', sends: 0 }],
    [
      'generateImage',
      { creationKey: 'typo', request: { model: 'image-2', prompt: 'a' }, startLimt: '1m' },
      { outcome: 'rejected', reason: 'invalid_request', sends: 0 },
    ],
  ])('%s without what it needs is refused, not sent', async (operation, input, outcome) => {
    expect(await call(operation, input)).toMatchObject(outcome);
  });

  it.concurrent.each<[operation: string, input: unknown, message: string]>([
    ['awaitVideo', {}, 'video must be an object.'],
    ['awaitVideo', { video: { taskId: 't', account: {} } }, 'video.account must be a single-line string'],
    [
      'awaitVideo',
      { video: { taskId: 't', account: 'a', polling: null } },
      'video.polling must be an object.',
    ],
    ['campaign', { manifest: {} }, 'A campaign needs an ID'],
    ...['generateVideo', 'generateImage', 'editImage', 'awaitVideo', 'campaign'].flatMap((operation) =>
      [null, 'text', 7, [null]].map(
        (odd) => [operation, odd, 'input must be an object.'] as [string, unknown, string],
      ),
    ),
  ])('%s of %j fails once and says why', async (operation, input, message) => {
    const failed = await call(operation, input).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(WorkflowFailedError);
    const operationFailure = (failed as WorkflowFailedError).cause;
    expect(operationFailure).toBeInstanceOf(NexusOperationFailure);
    expect((operationFailure?.cause as Error).message).toContain(message);
  });
});
