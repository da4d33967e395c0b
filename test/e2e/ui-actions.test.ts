import { join } from 'node:path';
import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { type CompletedVideo, type VideoOutcome } from '../../src/domain';
import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { accepted } from '../support/accepted';
import { type CampaignResult, type Row, startCampaign, storedManifest } from '../support/campaign';
import { PRICE, videos } from '../support/campaign-books';
import { eventually as seen } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { uiOf } from '../support/ui-actions';

// Most of these wait for a server that may be busy with other files.
jest.setTimeout(300_000);
const eventually = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  seen(what, look, 90_000);

/** Rows of the table "Actions of the Temporal UI" in docs/operations.md that no other test shows. */
describe('in the Temporal UI', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });

  const video = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });
  const image = (prompt: string) => ({ model: 'image-2', prompt });
  async function start(type: string, request: object, workflowId?: string): Promise<WorkflowHandle> {
    const { server, taskQueue } = await stack();
    return server.client.workflow.start(type, {
      taskQueue,
      workflowId: workflowId ?? server.uniqueId('ui'),
      args: [{ request }],
    });
  }
  const bought = async (prompt: string, count = 1): Promise<true> =>
    eventually(`${count} of ${prompt}`, async () => (await accepted(await stack(), prompt)) === count);
  const slow = async (prompt: string, operation: 'create' | 'generate' | 'content', ms = 3_000) => {
    const fault = { operation, promptIncludes: prompt, action: { type: 'delay', ms } } as const;
    await (await stack()).sandbox.admin.addFaults([fault]);
  };
  const received = async (prompt: string): Promise<unknown> =>
    eventually(`the send of ${prompt}`, async () => {
      const requests = await (await stack()).sandbox.admin.requests();
      return requests.some(({ json }) => (json as { prompt?: unknown } | undefined)?.prompt === prompt);
    });
  const acceptedOf = async (rows: readonly Row[]): Promise<number> => {
    const counts = rows.map(async ({ prompt }) => accepted(await stack(), prompt as string));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  const taskOf = (prompt: string): Promise<string> =>
    eventually(`the task of ${prompt}`, async () => {
      const tasks = await (await stack()).sandbox.admin.tasks();
      return tasks.find((task) => task.prompt === prompt)?.id;
    });
  const finish = async (prompt: string): Promise<void> => {
    const { admin } = (await stack()).sandbox;
    await admin.patchTask(await taskOf(prompt), { status: 'completed' });
  };
  const resultsOf = (handles: readonly WorkflowHandle[]): Promise<unknown[]> =>
    Promise.all(handles.map((handle) => handle.result() as Promise<unknown>));
  const gone = (handle: WorkflowHandle): Promise<unknown> =>
    eventually('its deletion', () =>
      handle.describe().then(
        () => false,
        (error: unknown) => error instanceof WorkflowNotFoundError,
      ),
    );

  it.concurrent('a signal by hand changes nothing, on a video, an image and a campaign', async () => {
    const media = await stack();
    const rows = videos(1, 'signalled row', '[run:2s] ');
    await slow('signalled poster', 'generate');
    const handles = [
      await start(WORKFLOW.generateVideo, video('[run:2s] signalled film')),
      await start(WORKFLOW.generateImage, image('signalled poster')),
      await startCampaign(media, rows),
    ];
    for (const handle of handles) await handle.signal('go_on', { please: true });
    const [film, poster, campaign] = await resultsOf(handles);
    expect([film, poster]).toMatchObject([{ outcome: 'completed' }, { outcome: 'completed' }]);
    expect((campaign as CampaignResult).counts).toEqual({ completed: 1 });
    const prompts = ['[run:2s] signalled film', 'signalled poster', rows[0]?.['prompt'] as string];
    expect(await Promise.all(prompts.map((one) => accepted(media, one)))).toEqual([1, 1, 1]);
  });

  it.concurrent('a cancelled campaign buys nothing more and collects what runs; campaign resume buys the rest', async () => {
    const media = await stack();
    const rows = videos(2, 'cancelled row', '[run:3s] ');
    const handle = await startCampaign(media, rows, { concurrency: 1 });
    await bought(rows[0]?.['prompt'] as string);
    await handle.cancel();
    const result = await handle.result();
    expect([result.outcome, result.counts]).toEqual(['cancelled', { completed: 1, cancelled: 1 }]);
    expect(await acceptedOf(rows)).toBe(1);
    const resumed = await uiOf(media).run('campaign', 'resume', handle.workflowId);
    expect([resumed.code, resumed.data?.['counts']]).toEqual([0, { completed: 2 }]);
    expect(await acceptedOf(rows)).toBe(2);
  });

  it.concurrent('a paused video, image and campaign go on after unpause, each bought once; a server without the command refuses it', async () => {
    const media = await stack();
    const ui = uiOf(media);
    const rows = videos(2, 'paused row', '[run:600s] ');
    const prompts = ['[run:600s] paused film', ...rows.map(({ prompt }) => prompt as string)];
    await slow('paused poster', 'generate', 15_000);
    const handles = [
      await start(WORKFLOW.generateVideo, video(prompts[0] ?? '')),
      await start(WORKFLOW.generateImage, image('paused poster')),
      await startCampaign(media, rows, { concurrency: 1 }),
    ];
    for (const prompt of ['paused poster', ...prompts.slice(0, 2)]) await received(prompt);
    const paused = await Promise.all(handles.map(({ workflowId }) => ui.pause(workflowId)));
    expect(new Set(paused).size).toBe(1);
    if (paused[0] === true) {
      const film = handles[0]?.workflowId ?? '';
      const shown = await ui.run('status', film);
      expect(JSON.stringify(shown.data)).toContain(`temporal workflow unpause --workflow-id ${film}`);
      for (const { workflowId } of handles) await ui.unpause(workflowId);
    }
    for (const prompt of prompts) await finish(prompt);
    const [film, poster, campaign] = await resultsOf(handles);
    expect([film, poster]).toMatchObject([{ outcome: 'completed' }, { outcome: 'completed' }]);
    expect((campaign as CampaignResult).counts).toEqual({ completed: 2 });
    expect(await Promise.all(['paused poster', ...prompts].map((one) => accepted(media, one)))).toEqual([
      1, 1, 1, 1,
    ]);
  });

  it.concurrent('a deleted video is an orphan that resume fetches; its id, and that of a deleted image, buy nothing again', async () => {
    const media = await stack();
    const ui = uiOf(media);
    const [id, prompt] = [media.server.uniqueId('deleted'), '[run:6s] deleted film'];
    await media.media.startVideo({ request: video(prompt) }, { id });
    await bought(prompt);
    const taskId = await taskOf(prompt);
    const poster = await media.media.images.start(
      { request: image('deleted poster') },
      { id: `${id}-poster`, as: 'workflow' },
    );
    const painted = await poster.result();
    const handles = [id, `${id}-poster`].map((one) => media.server.client.workflow.getHandle(one));
    await eventually('its record', async () => (await media.media.findTask(taskId)).creationKey !== null);
    for (const handle of handles) {
      await ui.delete(handle.workflowId);
      await gone(handle);
    }
    const { data } = await ui.run('orphans');
    expect(data?.['orphans']).toContainEqual(
      expect.objectContaining({ taskId, endedAs: 'NOT_FOUND' }) as unknown,
    );
    expect((await ui.run('status', id)).data).toMatchObject({
      foundBy: 'journal',
      video: { taskId },
    });
    const resumed = await ui.run('resume', taskId, '--out', join(media.dataDir, 'deleted'));
    expect([resumed.code, resumed.data?.files?.length]).toEqual([0, 1]);
    const again = await media.media.startVideo({ request: video(prompt) }, { id });
    expect(await again.result()).toMatchObject({ outcome: 'completed', video: { taskId } });
    const repainted = await media.media.images.start(
      { request: image('deleted poster') },
      { id: `${id}-poster`, as: 'workflow' },
    );
    expect(await repainted.result()).toMatchObject({
      outcome: 'completed',
      images: (painted as { images: unknown }).images,
    });
    expect([await accepted(media, prompt), await accepted(media, 'deleted poster')]).toEqual([1, 1]);
  });

  it.concurrent('a deleted campaign, run again under its id, buys no row twice', async () => {
    const media = await stack();
    const rows = videos(2, 'deleted row', '[run:4s] ');
    const budget = { microUnits: 2 * PRICE, currency: 'USD' };
    const handle = await startCampaign(media, rows, { budget });
    for (const row of rows) await bought(row['prompt'] as string);
    await uiOf(media).delete(handle.workflowId);
    await gone(handle);
    const manifest = await storedManifest(media, rows);
    const again = await media.media.campaigns.start({ manifest, budget }, { id: handle.workflowId });
    expect((await again.result()).counts).toEqual({ completed: 2 });
    expect(await acceptedOf(rows)).toBe(2);
  });

  it.concurrent('a start with a copied input and a new id: what a client started is adopted, what had no key is bought again', async () => {
    const media = await stack();
    const { client } = media.server;
    const inputOf = async (workflowId: string): Promise<unknown[]> => {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
      return payloads.map(({ data }) => JSON.parse(Buffer.from(data ?? []).toString()) as unknown);
    };
    const taskIn = async (workflowId: string) => {
      const outcome = (await client.workflow.getHandle(workflowId).result()) as CompletedVideo;
      expect(outcome.outcome).toBe('completed');
      return outcome.video.taskId;
    };
    const keyed = media.server.uniqueId('keyed');
    await media.media.startVideo({ request: video('copied with its key') }, { id: keyed });
    const { workflowId: bare } = await start(WORKFLOW.generateVideo, video('copied without a key'));
    const tasks = new Map<string, readonly [string, string]>();
    for (const id of [keyed, bare]) {
      const first = await taskIn(id);
      const [workflowId, args] = [`${id}-copy`, await inputOf(id)];
      await client.workflow.start(WORKFLOW.generateVideo, { taskQueue: media.taskQueue, workflowId, args });
      tasks.set(id, [first, await taskIn(workflowId)]);
    }
    expect(new Set(tasks.get(keyed)).size).toBe(1);
    expect(new Set(tasks.get(bare)).size).toBe(2);
    expect(await accepted(media, 'copied with its key')).toBe(1);
    expect(await accepted(media, 'copied without a key')).toBe(2);
  });

  it.concurrent('activities of a batch that are paused, reset or given other limits create each row once', async () => {
    const media = await stack();
    const ui = uiOf(media);
    const acts: readonly ((batch: string) => Promise<unknown>)[] = [
      async (batch) => {
        await ui.pauseActivity(batch, ACTIVITY.createVideos);
        await ui.unpauseActivity(batch, ACTIVITY.createVideos);
      },
      (batch) => ui.resetActivity(batch, ACTIVITY.createVideos),
      (batch) => ui.limitActivity(batch, ACTIVITY.createVideos, 7, 1_000),
    ];
    await Promise.all(
      acts.map(async (act, n) => {
        const rows = videos(1, `row of batch ${n}`);
        const prompt = rows[0]?.['prompt'] as string;
        await slow(prompt, 'create', 4_000);
        const handle = await startCampaign(media, rows);
        await received(prompt);
        await act(batchWorkflowId(handle.workflowId, 0));
        const result = await handle.result();
        expect([n, result.counts]).toEqual([n, { completed: 1 }]);
        expect(await accepted(media, prompt)).toBe(1);
      }),
    );
  });

  it.concurrent('a download that is given too little time ends still running; resume fetches the file', async () => {
    const media = await stack();
    const ui = uiOf(media);
    const prompt = 'hurried download';
    await slow(prompt, 'content', 4_000);
    const handle = await start(WORKFLOW.generateVideo, video(prompt));
    await eventually('the download', async () =>
      ((await handle.describe()).raw.pendingActivities ?? []).some(
        ({ activityType, lastStartedTime }) =>
          activityType?.name === ACTIVITY.downloadVideo && lastStartedTime != null,
      ),
    );
    await ui.limitActivity(handle.workflowId, ACTIVITY.downloadVideo, 1, 1_000);
    const outcome = (await handle.result()) as VideoOutcome;
    expect(outcome).toMatchObject({ outcome: 'still_running', billing: { state: 'reserved' } });
    const resumed = await ui.run('resume', handle.workflowId, '--out', join(media.dataDir, 'hurried'));
    expect([resumed.code, resumed.data?.files?.length]).toEqual([0, 1]);
    expect(await accepted(media, prompt)).toBe(1);
  });

  it.concurrent('a backfill starts a campaign of its own for each time, and a paused Schedule none; what runs goes on', async () => {
    const media = await stack();
    const { client } = media.server;
    const rows = videos(1, 'nightly row', '[run:3s] ');
    const [id, hour] = [media.server.uniqueId('nightly'), 3_600_000];
    const schedule = await client.schedule.create({
      scheduleId: id,
      spec: { intervals: [{ every: '1h' }] },
      state: { paused: true },
      action: {
        type: 'startWorkflow',
        workflowType: WORKFLOW.runCampaign,
        workflowId: id,
        taskQueue: media.taskQueue,
        args: [
          { manifest: await storedManifest(media, rows), budget: { microUnits: PRICE, currency: 'USD' } },
        ],
      },
    });
    try {
      const end = new Date(Math.floor(Date.now() / hour) * hour + 1);
      await schedule.backfill({ start: new Date(end.getTime() - hour - 2), end, overlap: 'ALLOW_ALL' });
      const started = async () =>
        (await schedule.describe()).info.recentActions.map(({ action }) => action.workflow.workflowId);
      const nights = await eventually('two campaigns', async () => {
        const ids = await started();
        return ids.length === 2 && ids;
      });
      await schedule.pause('nobody wants more');
      for (const night of nights) {
        const watched = await uiOf(media).run('campaign', 'watch', night);
        expect([watched.code, watched.data?.['counts']]).toEqual([0, { completed: 1 }]);
      }
      expect(await started()).toEqual(nights);
      expect(await acceptedOf(rows)).toBe(2);
    } finally {
      await schedule.delete();
    }
  });

  it.concurrent('a video and a campaign that are held at a version wait for workers of it, and go on with the current one when they are moved', async () => {
    const media: MediaStack = await stack();
    const ui = uiOf(media);
    const { client, namespace } = media.server;
    const uniqueId = (prefix: string) => media.server.uniqueId(prefix);
    const [deploymentName, taskQueue] = [uniqueId('film'), uniqueId('versions')];
    const worker = (buildId: string) =>
      media.startWorker({
        env: { MEDIA_DEPLOYMENT: `${deploymentName}:${buildId}`, MEDIA_TASK_QUEUE: taskQueue },
        ownConnection: true,
      });
    const makeCurrent = (buildId: string) =>
      eventually(`${buildId} current`, () =>
        client.workflowService
          .setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, identity: 'ui' })
          .then(
            () => true,
            () => false,
          ),
      );
    const versionsOf = async (ids: readonly string[]) => {
      const found = ids.map(async (id) => (await client.workflow.getHandle(id).describe()).raw);
      return new Set(
        (await Promise.all(found)).map(
          ({ workflowExecutionInfo }) => workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId,
        ),
      );
    };
    const first = await worker('1');
    await makeCurrent('1');
    const rows = videos(2, 'versioned row', '[run:600s] ');
    const prompt = '[run:600s] versioned film';
    const film = await client.workflow.start(WORKFLOW.generateVideo, {
      taskQueue,
      workflowId: uniqueId('film'),
      args: [{ request: video(prompt) }],
    });
    const manifest = await storedManifest(media, rows);
    const campaign = await client.workflow.start(WORKFLOW.runCampaign, {
      taskQueue,
      workflowId: uniqueId('campaign'),
      args: [{ manifest, concurrency: 1, budget: { microUnits: 2 * PRICE, currency: 'USD' } }],
    });
    await bought(prompt);
    await bought(rows[0]?.['prompt'] as string);
    const batch = batchWorkflowId(campaign.workflowId, 0);
    for (const id of [campaign.workflowId, batch]) await ui.pinTo(id, deploymentName, '1');
    const ids = [film.workflowId, campaign.workflowId, batch];
    const second = await worker('2');
    await makeCurrent('2');
    await first.stop();
    expect(await versionsOf(ids)).toEqual(new Set(['1']));
    for (const id of ids) await ui.moveToCurrentVersion(id);
    await finish(prompt);
    for (const row of rows) await finish(row['prompt'] as string);
    expect(await film.result()).toMatchObject({ outcome: 'completed' });
    const result = (await campaign.result()) as CampaignResult;
    expect([result.counts, result.money.estimated]).toEqual([{ completed: 2 }, 2 * PRICE]);
    expect([await accepted(media, prompt), await acceptedOf(rows)]).toEqual([1, 2]);
    expect(await versionsOf(ids)).toEqual(new Set(['2']));
    await second.stop();
  });
});
