import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { sandboxModels } from '../../packages/sandbox/src/models';
import { activityQueues, WORKFLOW } from '../../src/domain/names';
import { type ArtifactRef } from '../../src/domain/request';
import { CREATE_TIMEOUTS, IMAGE_TIMEOUTS } from '../../src/domain/timeouts';
import { accepted, received } from '../support/accepted';
import { startCampaign } from '../support/campaign';
import { startCrashingWorker } from '../support/crashing-process';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { testBundle } from '../support/test-bundle';
import { startWorkerProcess } from '../support/worker-process';

// What a request of a model may take whose entry names nothing. Workers in processes of their own keep what they have.
Object.assign(CREATE_TIMEOUTS, { httpBudgetMs: 1_500 });
Object.assign(IMAGE_TIMEOUTS, { httpBudgetMs: 1_500 });

const SLOW_MS = 2_500;
const SECONDS = 24;
const SLOW_MODELS: { readonly [model: string]: number } = {
  'cine-1': SECONDS,
  'image-2': SECONDS,
  'motion-omni': 600,
};

/** The models of the sandbox, of which some may take longer than all others. */
async function slowModels({ dataDir }: MediaStack): Promise<{ MEDIA_MODELS: string }> {
  const file = join(dataDir, 'slow-models.json');
  const models = sandboxModels.models.map((model) => {
    const requestSeconds = SLOW_MODELS[model.id];
    return requestSeconds === undefined ? model : { ...model, requestSeconds };
  });
  await writeFile(file, JSON.stringify({ ...sandboxModels, models }));
  return { MEDIA_MODELS: file };
}

const slow = (operation: 'create' | 'generate' | 'edit', promptIncludes: string, ms = SLOW_MS) => ({
  operation,
  promptIncludes,
  action: { type: 'delay', ms } as const,
});

const timing = { queuedMs: 0, runningMs: 0 };
const video = (prompt: string, model = 'cine-1', durationSeconds = 2) => ({ model, prompt, durationSeconds });

describe('a service that takes longer than a request has by itself', () => {
  const stack = sharedStack({ sandbox: { timing } }, async (media) =>
    media.startWorker({ env: await slowModels(media) }),
  );
  let source: { readonly artifact: ArtifactRef };
  const picture = async (): Promise<typeof source> => {
    const { media } = await stack();
    const made = await media.images.start({ request: { model: 'image-2', prompt: 'a picture to edit' } });
    const outcome = await made.result();
    if (outcome.outcome !== 'completed' || outcome.images[0] == null) throw new Error(outcome.outcome);
    return { artifact: outcome.images[0] };
  };
  beforeAll(async () => {
    source = await picture();
  });

  it.each([
    ['completed', 'cine-1'],
    ['unconfirmed', 'sketch-lite'],
  ])('[C4.4a] [C4.4b] a create ends %s with %s, and is accepted once', async (end, model) => {
    const { media, sandbox } = await stack();
    const prompt = `a slow kite of ${model}`;
    await sandbox.admin.addFaults([slow('create', prompt)]);
    const outcome = await (await media.startVideo({ request: video(prompt, model) })).result();
    expect(outcome).toMatchObject({
      outcome: end,
      billing: { state: end === 'completed' ? 'estimated' : 'needs_review' },
    });
    if (outcome.outcome === 'unconfirmed') {
      expect(outcome.evidence.cause).toBe('timeout_after_send');
      expect(outcome.message).toContain('requestSeconds');
    }
    await eventually('what was sent', async () => (await accepted(await stack(), prompt)) === 1);
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.each([
    ['generate', 'completed', 'image-2'],
    ['generate', 'unconfirmed', 'image-2 4K'],
    ['edit', 'completed', 'image-2'],
    ['edit', 'unconfirmed', 'image-2 4K'],
  ] as const)('[C4.4a] an image that it has to %s ends %s with %s', async (operation, end, model) => {
    const { media, sandbox } = await stack();
    const prompt = `a slow lighthouse, ${operation} with ${model}`;
    await sandbox.admin.addFaults([slow(operation, prompt)]);
    const started =
      operation === 'generate'
        ? await media.images.start({ request: { model, prompt } })
        : await media.images.start({ request: { model, prompt, images: [source] } });
    const outcome = await started.result();
    expect(outcome.outcome).toBe(end);
    if (outcome.outcome === 'unconfirmed') expect(outcome.message).toContain('requestSeconds');
    await eventually('what was sent', async () => (await accepted(await stack(), prompt)) === 1);
  });

  it('[C4.4a] rows of a campaign have the time of their models, side by side', async () => {
    const media = await stack();
    const prompts = { patient: 'a row that may take long', hasty: 'a row that may not' };
    await media.sandbox.admin.addFaults(Object.values(prompts).map((prompt) => slow('create', prompt)));
    const campaign = await startCampaign(
      media,
      [
        { id: 'patient', model: 'cine-1', prompt: prompts.patient, duration: 2 },
        { id: 'hasty', model: 'sketch-lite', prompt: prompts.hasty, duration: 2 },
      ],
      { waitFor: '2 minutes' },
    );
    expect((await campaign.result()).counts).toEqual({ completed: 1, unconfirmed: 1 });
    for (const prompt of Object.values(prompts)) expect(await received(media, prompt)).toBe(1);
  });

  it('[C4.4a] a create that is cancelled is followed to its end, also beyond the time of other models', async () => {
    const { server, sandbox, taskQueue } = await stack();
    const prompt = 'a slow kite that nobody wants';
    await sandbox.admin.addFaults([slow('create', prompt, 7_000)]);
    const workflows = await Worker.create({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue: server.uniqueId('short-limits'),
      workflowBundle: await testBundle(require.resolve('../support/workflows/short-limits')),
    });
    const outcome = await workflows.runUntil(async () => {
      const handle = await server.client.workflow.start(WORKFLOW.generateVideo, {
        taskQueue: workflows.options.taskQueue,
        workflowId: server.uniqueId('cancelled-while-slow'),
        args: [{ request: video(prompt), queues: activityQueues(taskQueue) }],
      });
      await eventually('the call', async () => (await received(await stack(), prompt)) === 1);
      await handle.cancel();
      return (await handle.result()) as unknown;
    });
    const task = (await sandbox.admin.tasks()).find((one) => one.prompt === prompt);
    expect(outcome).toMatchObject({ outcome: 'cancelled', video: { taskId: task?.id } });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });
});

/** Their sender takes longer than any create of a model whose entry names no time. */
describe('a worker that is gone in the middle of a slow create', () => {
  const stack = sharedStack({ sandbox: { timing } }, async () => undefined);

  it.concurrent('[C4.4a] [C4.4c] killed: its successor sends nothing', async () => {
    const media = await stack();
    const prompt = 'a slow kite whose worker is killed';
    await media.sandbox.admin.addFaults([slow('create', prompt, 20_000)]);
    const env = await slowModels(media);
    const worker = await startCrashingWorker(media, undefined, env);
    const started = await worker.media.startVideo({ request: video(prompt) });
    await eventually('the call', async () => (await received(media, prompt)) === 1);
    await worker.kill();
    await worker.startSuccessor();
    const outcome = await started.result();
    if (outcome.outcome !== 'unconfirmed') throw new Error(outcome.outcome);
    const { intentAt, sendWindowEnd } = outcome.evidence;
    expect(Date.parse(sendWindowEnd ?? '') - Date.parse(intentAt ?? '')).toBeGreaterThanOrEqual(
      SECONDS * 1000,
    );
    expect(outcome.billing.state).toBe('needs_review');
    // The end of a process on this host is known at once, and the service still works on the request.
    await eventually('its acceptance', async () => (await accepted(media, prompt)) === 1);
    expect(await received(media, prompt)).toBe(1);
  });

  it.concurrent('[C4.4a] [C4.4b] stopped for a while: what its reply says is the outcome', async () => {
    const media = await stack();
    const prompt = 'a slow kite whose worker stands still';
    await media.sandbox.admin.addFaults([slow('create', prompt, 20_000)]);
    const taskQueue = media.server.uniqueId('stopped');
    const journal = join(media.dataDir, taskQueue, 'journal');
    const env = { ...(await slowModels(media)), MEDIA_TASK_QUEUE: taskQueue, MEDIA_JOURNAL: journal };
    const worker = await startWorkerProcess(media, require.resolve('../support/crashing-worker.js'), env);
    try {
      const handle = await media.server.client.workflow.start(WORKFLOW.generateVideo, {
        taskQueue,
        workflowId: media.server.uniqueId('stopped'),
        args: [{ request: video(prompt, 'motion-omni', 3) }],
      });
      await eventually('the call', async () => (await received(media, prompt)) === 1);
      worker.signal('SIGSTOP');
      await media.startWorker({ env });
      // What the server gives to a worker that stands still comes back after half a minute.
      const waits = async () => {
        const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
        return pending?.lastFailure?.message?.includes('may still be running');
      };
      await eventually('the wait for its sender', waits, 120_000);
      worker.signal('SIGCONT');
      expect(await handle.result()).toMatchObject({ outcome: 'completed', billing: { state: 'estimated' } });
      expect([await received(media, prompt), await accepted(media, prompt)]).toEqual([1, 1]);
    } finally {
      worker.signal('SIGKILL');
    }
  });
});
