import { type WorkflowHandle } from '@temporalio/client';
import { type VideoState } from '../../src/domain';
import { QUERY, WORKFLOW } from '../../src/domain/names';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';
import { workflowDetails } from '../support/workflow-details';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SECRET = 'SECRET-PROMPT';

/** What a running workflow tells about itself: the query `video_state` and the details panel of the UI. */
describe('a workflow tells', () => {
  const stack = sharedStack({});

  async function start(type: string, request: object, more: object = {}): Promise<WorkflowHandle> {
    const { server, taskQueue } = await stack();
    const workflowId = server.uniqueId('tells');
    const args = [{ request, creationKey: workflowId, ...more }];
    return server.client.workflow.start(type, { taskQueue, workflowId, args });
  }
  const video = (prompt: string, more: object = {}) =>
    start(WORKFLOW.generateVideo, { model: 'cine-1', prompt, durationSeconds: 2 }, more);

  const stateOf = (handle: WorkflowHandle): Promise<VideoState> => handle.query(QUERY.videoState);

  const when = (handle: WorkflowHandle, what: string, is: (state: VideoState) => boolean) =>
    eventually(what, async () => {
      const state = await stateOf(handle);
      return is(state) ? state : undefined;
    });

  it.concurrent('the facts of a watched task, and the same to a person', async () => {
    const handle = await video(`[queue:0s] [run:20s] ${SECRET}`, { waitFor: '10m' });
    // While a poll is under way, nobody knows when the next one is due.
    const state = await when(handle, 'a poll', ({ polls, nextPollAt }) => polls >= 1 && nextPollAt !== null);
    expect(state).toMatchObject({
      phase: 'watching',
      creationKey: handle.workflowId,
      taskId: state.video?.taskId,
      deadlineAt: expect.stringMatching(ISO) as string,
      nextPollAt: expect.stringMatching(ISO) as string,
      lastPollAt: expect.stringMatching(ISO) as string,
      lastChangeAt: expect.stringMatching(ISO) as string,
      lastHttpStatus: 200,
      consecutiveErrors: 0,
      outcome: null,
    });
    const details = await workflowDetails(handle);
    expect(details).toContain('**Watching');
    expect(details).toContain('Run `temporal-media status` on this workflow to see what is safe');
    expect(details).toContain(`- task: \`${state.taskId}\``);
    expect(details).toContain(`- deadline: ${state.deadlineAt}`);
    expect(`${details}${JSON.stringify(state)}`).not.toContain(SECRET);

    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    const ended = await stateOf(handle);
    expect(ended).toMatchObject({
      phase: 'done',
      outcome: 'completed',
      nextPollAt: null,
      lastHttpStatus: 200,
    });
    expect(ended.polls).toBeGreaterThan(1);
    expect(await workflowDetails(handle)).toContain('**Done: completed**');
  });

  it.concurrent('the deadline of a very patient caller: a wait may last ten years, and no century', async () => {
    const prompt = '[queue:0s] [run:0s] a very patient caller';
    const patient = await video(prompt, { waitFor: '10 years', startLimit: '10 years' });
    expect(await patient.result()).toMatchObject({ outcome: 'completed' });
    const { deadlineAt } = await stateOf(patient);
    expect(Date.parse(deadlineAt ?? '') - Date.now()).toBeGreaterThan(9 * 365 * 86_400_000);
    const absurd = await video(prompt, { waitFor: '300000 years' });
    expect(await absurd.result()).toMatchObject({ outcome: 'rejected', field: 'waitFor', sends: 0 });
  });

  it.concurrent('[C7.3] which credential the service refuses, and that the task goes on', async () => {
    const prompt = 'a refused poll';
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      { operation: 'poll', promptIncludes: prompt, times: 0, action: { type: 'status', status: 403 } },
    ]);
    const handle = await video(`[run:60s] ${prompt}`);
    const state = await when(handle, 'a refused poll', ({ consecutiveErrors }) => consecutiveErrors > 0);
    expect(state).toMatchObject({ lastHttpStatus: 403, polls: 1, consecutiveErrors: 1, lastChangeAt: null });
    expect(state.watch?.lastError).toMatchObject({ class: 'credentials', httpStatus: 403 });
    const details = await workflowDetails(handle);
    expect(details).toContain(`- account: \`${state.video?.account}\``);
    expect(details).toContain('with HTTP 403');
    expect(details).toContain('- trouble: credentials');
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
    expect(await stateOf(handle)).toMatchObject({
      phase: 'done',
      outcome: 'cancelled',
      taskId: state.taskId,
    });
  });

  it.concurrent('when the next create is and why, while the service refuses for now', async () => {
    const prompt = 'a create refused for now';
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        action: { type: 'status', status: 429, headers: { 'retry-after': '300' } },
      },
    ]);
    const handle = await video(prompt);
    const state = await when(handle, 'the refusal', ({ phase }) => phase === 'waiting_to_create');
    expect(state).toMatchObject({ taskId: null, video: null, sends: 1, polls: 0, lastHttpStatus: null });
    const details = await workflowDetails(handle);
    expect(details).toContain('**Waiting to create**');
    expect(details).toContain(`- next create: ${state.nextCreateAt}`);
    expect(details).toContain('- because: `refused with HTTP 429`');
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled', billing: { state: 'none' } });
  });

  it.concurrent('an image call: its key, and what is safe', async () => {
    const handle = await start(WORKFLOW.generateImage, { model: 'image-2', prompt: SECRET });
    const outcome = (await handle.result()) as { readonly outcome: string };
    expect(outcome.outcome).toBe('completed');
    const details = await workflowDetails(handle);
    expect(details).toContain('**Done: completed**');
    expect(details).toContain(`- creation key: \`${handle.workflowId}\``);
    expect(details).not.toContain(SECRET);
  });
});
