import { ApplicationFailure } from '@temporalio/common';
import { TemporalMediaClient } from '../../src/client';
import { type ImageOutcome, type VideoOutcome } from '../../src/domain';
import { ACTIVITY, NOT_RECORDED, UPDATE } from '../../src/domain/names';
import {
  type ResolveUnconfirmedInput,
  type ResolveUnconfirmedResult,
  type ReviewJournalPage,
} from '../../src/domain/unconfirmed-decision';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { answers } from '../domain/create-answers';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { alwaysBound } from '../support/queue-binding';
import { sharedStack } from '../support/shared-stack';

/** What a person decides about a paid call of unknown fate, and what follows from it (failure model: The log). */
describe('a create of unknown fate', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });

  const requestOf = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });
  const WHO = { by: 'ada', reason: 'looked into the console' };

  /** The reply of the first create with this prompt is lost. */
  async function loseReply(prompt: string, isAccepted = true): Promise<void> {
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        action: { type: 'lose_reply', accepted: isAccepted, how: 'reset' },
      },
    ]);
  }

  async function taskOf(prompt: string): Promise<string> {
    const { sandbox } = await stack();
    const task = (await sandbox.admin.tasks()).find((one) => one.prompt === prompt);
    if (task === undefined) throw new Error('The sandbox has accepted no such task');
    return task.id;
  }

  async function start(prompt: string, id: string, input: Partial<GenerateVideoInput> = {}) {
    const { media } = await stack();
    return media.startVideo({ request: requestOf(prompt), ...input }, { id });
  }

  /** A create whose reply was lost, and which ended so. */
  async function unconfirmed(prompt: string, isAccepted = true): Promise<string> {
    await loseReply(prompt, isAccepted);
    const id = (await stack()).server.uniqueId('unconfirmed');
    const outcome = await (await start(prompt, id)).result();
    expect(outcome).toMatchObject({ outcome: 'unconfirmed', creationKey: id });
    return id;
  }

  /** A workflow that waits for a decision. */
  async function waiting(prompt: string, isAccepted = true) {
    await loseReply(prompt, isAccepted);
    const { media, server } = await stack();
    const id = server.uniqueId('waiting');
    const started = await start(prompt, id, { onUnconfirmed: 'wait' });
    await eventually(
      'the wait for a decision',
      async () => (await media.videoState(id)).phase === 'unconfirmed',
    );
    return { id, started, handle: server.client.workflow.getHandle(id) };
  }

  async function resolve(
    creationKey: string,
    decision: Pick<ResolveUnconfirmedInput, 'decision' | 'taskId'>,
  ): Promise<ResolveUnconfirmedResult> {
    return (await stack()).media.resolveUnconfirmed({ creationKey, ...decision, ...WHO });
  }

  /** Names the send whose evidence a waiting workflow shows. */
  async function about(workflowId: string): Promise<{ readonly sendId: string } & typeof WHO> {
    const { evidence } = await (await stack()).media.videoState(workflowId);
    return { sendId: evidence?.sendId ?? 'none', ...WHO };
  }

  async function review(list: 'unconfirmed' | 'created', creationKey: string): Promise<ReviewJournalPage> {
    return (await stack()).media.reviewJournal({ list, creationKey });
  }

  async function paid(prompt: string): Promise<readonly [received: number, accepted: number]> {
    return [await received(await stack(), prompt), await accepted(await stack(), prompt)];
  }

  it.concurrent('[C4.4c] after its workflow has ended, adopted: the same id brings the video, and nothing is sent again', async () => {
    const prompt = 'adopted afterwards';
    const id = await unconfirmed(prompt);
    expect((await review('unconfirmed', id)).unconfirmed).toMatchObject([
      {
        creationKey: id,
        state: 'unconfirmed',
        evidence: { cause: 'connection_lost_after_send' },
      },
    ]);
    const taskId = await taskOf(prompt);
    expect(await resolve(id, { decision: 'adopt', taskId })).toMatchObject({
      resolved: true,
      answer: { outcome: 'created', video: { taskId, model: 'cine-1', durationSeconds: 2 } },
    });
    expect(await (await start(prompt, id)).result()).toMatchObject({
      outcome: 'completed',
      video: { taskId },
    });
    expect(await paid(prompt)).toEqual([1, 1]);
    expect((await review('unconfirmed', id)).unconfirmed).toEqual([]);
    expect((await review('created', id)).created).toMatchObject([{ creationKey: id, taskId }]);
  });

  it.concurrent('[C4.4c] after its workflow has ended, declared lost: the same id sends nothing any more', async () => {
    const prompt = 'declared lost afterwards';
    const id = await unconfirmed(prompt, false);
    expect(await resolve(id, { decision: 'declareLost' })).toMatchObject({ resolved: true });
    expect(await resolve(id, { decision: 'resubmit' })).toMatchObject({
      resolved: false,
      reason: 'already_decided',
    });
    expect(await (await start(prompt, id)).result()).toMatchObject({
      outcome: 'rejected',
      reason: 'declared_lost',
      billing: { state: 'none' },
    });
    expect(await paid(prompt)).toEqual([1, 0]);
  });

  it.concurrent('[C4.4c] after its workflow has ended, resubmitted: the same id sends once more, and only once', async () => {
    const prompt = 'resubmitted afterwards';
    const id = await unconfirmed(prompt, false);
    expect(await resolve(id, { decision: 'resubmit' })).toMatchObject({
      resolved: true,
      answer: null,
    });
    expect(await paid(prompt)).toEqual([1, 0]);
    expect(await (await start(prompt, id)).result()).toMatchObject({ outcome: 'completed' });
    expect(await (await start(prompt, id)).result()).toMatchObject({ outcome: 'completed' });
    expect(await paid(prompt)).toEqual([2, 1]);
    expect(await resolve(id, { decision: 'declareLost' })).toMatchObject({
      resolved: false,
      reason: 'already_known',
    });
  });

  it.concurrent('after its workflow has ended, an image call is resubmitted as well, and has no task to adopt', async () => {
    const { media, server, sandbox } = await stack();
    const prompt = 'a still of unknown fate';
    await sandbox.admin.addFaults([
      {
        operation: 'generate',
        promptIncludes: prompt,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const id = server.uniqueId('image');
    const again = async (): Promise<ImageOutcome> =>
      (await media.images.start({ request: { model: 'image-2', prompt } }, { id })).result();
    expect(await again()).toMatchObject({ outcome: 'unconfirmed' });
    expect(await resolve(id, { decision: 'adopt', taskId: 'video_1' })).toMatchObject({
      resolved: false,
      reason: 'no_task_to_adopt',
    });
    expect(await resolve(id, { decision: 'resubmit' })).toMatchObject({ resolved: true });
    expect(await again()).toMatchObject({ outcome: 'completed' });
    expect(await paid(prompt)).toEqual([2, 2]);
  });

  it.concurrent('after its workflow has ended, a wrong decision is refused in words and changes nothing', async () => {
    const prompt = 'decided wrongly';
    const id = await unconfirmed(prompt);
    const other = '[run:0s] another video';
    const otherId = (await stack()).server.uniqueId('other');
    const bought = await (await start(other, otherId)).result();
    if (bought.outcome !== 'completed') throw new Error(bought.outcome);
    const refusals = [
      [{ decision: 'adopt', taskId: 'video_nobody' }, 'task_unknown'],
      [{ decision: 'adopt', taskId: bought.video.taskId }, 'task_of_another_key'],
      [{ decision: 'adopt', taskId: '..' }, 'invalid_decision'],
      [{ decision: 'adopt' }, 'invalid_decision'],
      [{ decision: 'forget' as 'adopt' }, 'invalid_decision'],
    ] as const;
    for (const [decision, reason] of refusals)
      expect(await resolve(id, decision)).toMatchObject({ resolved: false, reason });
    expect(await resolve(otherId, { decision: 'resubmit' })).toMatchObject({ reason: 'already_known' });
    expect(await resolve('nobody', { decision: 'resubmit' })).toMatchObject({
      reason: 'nothing_unconfirmed',
    });
    expect((await review('unconfirmed', id)).unconfirmed).toHaveLength(1);
    expect(await paid(prompt)).toEqual([1, 1]);
  });

  it.concurrent('[C4.4c] in a workflow that waits, adopt: it goes on with the task', async () => {
    const prompt = 'adopted by an update';
    const { id, started, handle } = await waiting(prompt);
    const taskId = await taskOf(prompt);
    const adopt = async (task: string): Promise<unknown> =>
      handle.executeUpdate(UPDATE.adopt, { args: [{ taskId: task, ...(await about(id)) }] });
    expect(await adopt('video_nobody')).toMatchObject({ resolved: false, reason: 'task_unknown' });
    expect(await adopt(taskId)).toMatchObject({ resolved: true });
    expect(await started.result()).toMatchObject({ outcome: 'completed', video: { taskId } });
    expect(await paid(prompt)).toEqual([1, 1]);
  });

  it.concurrent('[C4.4c] in a workflow that waits, resubmit: it sends once more', async () => {
    const prompt = 'resubmitted by an update';
    const { id, started, handle } = await waiting(prompt, false);
    await handle.executeUpdate(UPDATE.resubmit, { args: [await about(id)] });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    expect(await paid(prompt)).toEqual([2, 1]);
  });

  it.concurrent('in a workflow that waits, declareLost: it ends as rejected', async () => {
    const prompt = 'declared lost by an update';
    const { id, started, handle } = await waiting(prompt, false);
    await handle.executeUpdate(UPDATE.declareLost, { args: [await about(id)] });
    expect(await started.result()).toMatchObject({ outcome: 'rejected', reason: 'declared_lost' });
  });

  it.concurrent('in a workflow that waits, an incomplete decision is refused and leaves no event', async () => {
    const { started, handle } = await waiting('decided incompletely', false);
    await expect(handle.executeUpdate(UPDATE.declareLost, { args: [{ by: 'ada' }] })).rejects.toThrow();
    await expect(handle.executeUpdate(UPDATE.resubmit, { args: [WHO] })).rejects.toThrow();
    await expect(handle.executeUpdate(UPDATE.adopt, { args: [{}] })).rejects.toThrow();
    const { events } = await handle.fetchHistory();
    expect(events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null)).toBe(false);
    await handle.cancel();
    expect(await started.result()).toMatchObject({ outcome: 'unconfirmed' });
  });

  it.concurrent('in a workflow that waits, before anything is unconfirmed there is nothing to decide', async () => {
    const { server } = await stack();
    const id = server.uniqueId('certain');
    const started = await start('[run:3s] nothing to decide', id);
    const handle = server.client.workflow.getHandle(id);
    await expect(
      handle.executeUpdate(UPDATE.resubmit, { args: [{ sendId: 'any', ...WHO }] }),
    ).rejects.toThrow();
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
  });

  it.concurrent('[C4.4c] the same body under another id is refused until the first is settled', async () => {
    const prompt = 'the very same request';
    const id = await unconfirmed(prompt);
    const careful = { refuseWhileUnconfirmed: true };
    const { server } = await stack();
    const again = async (input: Partial<GenerateVideoInput>): Promise<VideoOutcome> =>
      (await start(prompt, server.uniqueId('again'), input)).result();
    const refused = await again(careful);
    expect(refused).toMatchObject({ outcome: 'rejected', reason: 'unconfirmed_open', sends: 0 });
    expect(refused.outcome === 'rejected' && refused.message).toContain(id);
    expect(await paid(prompt)).toEqual([1, 1]);
    expect(await again({})).toMatchObject({ outcome: 'completed' });
    await resolve(id, { decision: 'declareLost' });
    expect(await again(careful)).toMatchObject({ outcome: 'completed' });
    expect(await paid(prompt)).toEqual([3, 3]);
  });

  it.concurrent('[C4.4c] the task records of the service settle it without a person', async () => {
    const shared = await stack();
    const prompt = 'found in the records';
    await loseReply(prompt);
    const worker = await handMadeWorker(shared, {
      standing: alwaysBound,
      taskRecords: {
        longestRequestMs: 0,
        find: async () => ({ found: 'task', taskId: await taskOf(prompt) }),
      },
    });
    await worker.runUntil(async () => {
      const media = new TemporalMediaClient(shared.server.client, { taskQueue: worker.taskQueue });
      const started = await media.startVideo({ request: requestOf(prompt) });
      expect(await started.result()).toMatchObject({
        outcome: 'completed',
        video: { taskId: await taskOf(prompt) },
      });
    });
    expect(await paid(prompt)).toEqual([1, 1]);
  });

  it('[C4.4b] keeps the task id that its sender reported, when nobody could read the journal in time', async () => {
    const shared = await stack();
    const worker = await handMadeWorker(shared, {}, (real) => ({
      [ACTIVITY.createVideo]: async (input) => {
        const bought = await real[ACTIVITY.createVideo](input);
        if (bought.outcome !== 'created') throw new Error(`The create ended ${bought.outcome}`);
        // As a later attempt answers, which knows the task from the heartbeat of the attempt that died.
        const { sendAttempt, account, estimate, video } = bought;
        return { outcome: 'pending', sendAttempt, sent: false, account, estimate, taskId: video.taskId };
      },
      [ACTIVITY.reconcileCreate]: async () => {
        throw ApplicationFailure.nonRetryable('The time for the reconciliation has run out');
      },
    }));
    await worker.runUntil(async () => {
      const media = new TemporalMediaClient(shared.server.client, { taskQueue: worker.taskQueue });
      const started = await media.startVideo({ request: requestOf('a buoy whose journal was away') });
      expect(await started.result()).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { cause: 'reconcile_failed', taskId: await taskOf('a buoy whose journal was away') },
      });
    });
  });

  it.concurrent('[C7.10] cancelled while a decision is carried out, it answers the Update, sends nothing more, and does not say that nothing is owed', async () => {
    const shared = await stack();
    let started: () => void;
    let finish: () => void;
    const hasStarted = new Promise<void>((resolve) => (started = resolve));
    const mayFinish = new Promise<void>((resolve) => (finish = resolve));
    let creates = 0;
    const worker = await handMadeWorker(shared, {}, () => ({
      [ACTIVITY.createVideo]: async ({ recordedOnly }) => {
        // As the journal answers after the decision: the key is free, and the first send may have cost.
        if (recordedOnly === true) return answers.notSent(1, { cause: NOT_RECORDED, mayBeOwed: true });
        creates += 1;
        return answers.unconfirmed(0);
      },
      [ACTIVITY.resolveUnconfirmed]: async ({ creationKey, decision }): Promise<ResolveUnconfirmedResult> => {
        started();
        await mayFinish;
        return {
          resolved: true,
          decision,
          creationKey,
          sendAttempt: 0,
          answer: null,
          message: 'authorised',
        };
      },
    }));
    await worker.runUntil(async () => {
      const { client } = shared.server;
      const media = new TemporalMediaClient(client, { taskQueue: worker.taskQueue });
      const id = shared.server.uniqueId('cancelled-decision');
      const request = { model: 'cine-1', prompt: 'decided and cancelled', durationSeconds: 2 };
      const started = await media.startVideo({ request, onUnconfirmed: 'wait' }, { id });
      await eventually('the wait', async () => (await media.videoState(id)).phase === 'unconfirmed');
      const handle = client.workflow.getHandle(id);
      const decided = handle.executeUpdate(UPDATE.resubmit, { args: [{ sendId: 'any', ...WHO }] });
      await hasStarted;
      await handle.cancel();
      finish();
      await expect(decided).resolves.toMatchObject({ resolved: true, decision: 'resubmit' });
      expect(await started.result()).toMatchObject({
        outcome: 'cancelled',
        billing: { state: 'needs_review' },
      });
      expect(creates).toBe(1);
    });
  });
});
