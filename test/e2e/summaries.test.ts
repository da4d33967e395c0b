import { defaultPayloadConverter, type WorkflowHandle } from '@temporalio/client';
import { WORKFLOW } from '../../src/domain/names';
import { sharedStack } from '../support/shared-stack';

const SECRET = 'SECRET-PROMPT';

/** The UI shows a timer or an activity by its summary: each has one, and none holds a prompt (C5.4c). */
describe('every timer and every activity has a summary', () => {
  const stack = sharedStack({});

  async function run(type: string, input: object, start: object = {}): Promise<WorkflowHandle> {
    const { server, taskQueue } = await stack();
    const workflowId = server.uniqueId('summaries');
    const handle = await server.client.workflow.start(type, {
      taskQueue,
      workflowId,
      args: [input],
      ...start,
    });
    await handle.result();
    return handle;
  }

  /** Summaries of the timers and activities of a closed workflow, in order; null for one without. */
  async function summariesOf(handle: WorkflowHandle): Promise<(string | null)[]> {
    const { events } = await handle.fetchHistory();
    return (events ?? [])
      .filter((event) => event.timerStartedEventAttributes ?? event.activityTaskScheduledEventAttributes)
      .map(({ userMetadata }) =>
        userMetadata?.summary == null
          ? null
          : defaultPayloadConverter.fromPayload<string>(userMetadata.summary),
      );
  }

  it.concurrent('[C5.4c] of a create that was refused, the polls, the download and their limits', async () => {
    const prompt = `${SECRET} refused first [run:3s]`;
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: 'refused first',
        action: { type: 'status', status: 429, headers: { 'retry-after': '1' } },
      },
    ]);
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    const handle = await run(WORKFLOW.generateVideo, { request }, { workflowExecutionTimeout: '10 minutes' });
    const summaries = await summariesOf(handle);
    expect(new Set(summaries)).toEqual(
      new Set([
        'create',
        'limit of the create',
        'wait before the next create',
        'create, attempt 2',
        'next poll of 1 video',
        'poll 1 video',
        'download',
        'limit of the download',
      ]),
    );
    expect(JSON.stringify(summaries)).not.toContain(SECRET);
  });

  it.concurrent('of a task that is resumed by its id, and of one that is looked up', async () => {
    const request = { model: 'cine-1', prompt: `[run:5s] ${SECRET}`, durationSeconds: 2 };
    const { server } = await stack();
    const first = await run(WORKFLOW.generateVideo, { request, waitFor: '1s' });
    const { video } = (await first.result()) as { readonly video: { readonly taskId: string } };
    const resumed = await run(WORKFLOW.awaitVideo, { video: { taskId: video.taskId } });
    expect(new Set(await summariesOf(resumed))).toEqual(
      // Its watcher polls, and brings the file.
      new Set(['look the task up', 'watch']),
    );
    const workflowId = server.uniqueId('summaries');
    const { taskQueue } = await stack();
    const found = await server.client.workflow.start(WORKFLOW.findVideoTask, {
      taskQueue,
      workflowId,
      args: [{ taskId: video.taskId }],
    });
    await found.result();
    expect(await summariesOf(found)).toEqual(['look the task up']);
  });

  it.concurrent('[C5.4c] of an image call and an edit', async () => {
    const made = await run(WORKFLOW.generateImage, { request: { model: 'image-2', prompt: SECRET } });
    const { images } = (await made.result()) as { readonly images: readonly unknown[] };
    const edited = await run(WORKFLOW.editImage, {
      request: { model: 'image-2', prompt: SECRET, images: [{ artifact: images[0] }] },
    });
    expect(await summariesOf(made)).toEqual(['generate image', 'limit of the image call']);
    expect(await summariesOf(edited)).toEqual(['edit image', 'limit of the image call']);
  });
});
