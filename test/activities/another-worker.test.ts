import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createMediaActivities } from '../../src/activities/create-media-activities';
import { createFindVideoTask } from '../../src/activities/create-media-activities';
import { type CreateJournal } from '../../src/domain/journal';
import { ACTIVITY } from '../../src/domain/names';
import { type PollVideosInput } from '../../src/domain/poll-answers';
import { accountRegistry } from '../../src/settings/accounts';
import { createModelSource } from '../../src/settings/model-source';
import { type ArtifactStore } from '../../src/stores/artifacts/artifact-store';
import { makeVideoTask } from '../domain/make-video-task';

const INPUT: PollVideosInput = {
  account: 'elsewhere@00000000',
  byModel: [{ model: 'm', ids: ['task_1', 'task_2'], seen: ['', ''] }],
  budgetMs: 30_000,
  minIntervalMs: 1,
};
const UNSENT = [0, 1].map((index) => ({ index, error: 'account_not_configured', unsent: true }));

describe('work for an account of another worker of the queue', () => {
  const accounts = accountRegistry([]);
  const activities = createMediaActivities({
    accounts,
    artifacts: {} as ArtifactStore,
    journal: 'none',
    models: createModelSource(),
  });
  const attempt = (number: number, ago = 0) =>
    new MockActivityEnvironment({
      attempt: number,
      scheduledTimestampMs: 1_000_000 - ago,
      currentAttemptScheduledTimestampMs: 1_000_000,
    });
  const poll = (input: PollVideosInput) => activities[ACTIVITY.pollVideos](input);

  it('a tick is handed on at first, with a pause; then the workflow hears that nothing was asked', async () => {
    for (const number of [1, 5]) {
      const failure: unknown = await attempt(number)
        .run(poll, INPUT)
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApplicationFailure);
      const { nonRetryable, details } = failure as ApplicationFailure;
      expect([nonRetryable, details]).toMatchObject([false, [{ class: 'account_not_configured' }]]);
      expect((details?.[0] as { delayMs: number }).delayMs).toBeGreaterThan(0);
    }
    expect(await attempt(6).run(poll, INPUT)).toEqual({ answers: UNSENT });
  });

  it('a tick whose time is over is not handed on: the next one is due', async () => {
    expect(await attempt(2, 29_950).run(poll, INPUT)).toEqual({ answers: UNSENT });
  });

  it('a task is found by the bare name of its credential, although this worker does not have it', async () => {
    const video = makeVideoTask({ account: 'elsewhere@00000000' });
    const entry = {
      v: 1,
      namespace: 'n',
      creationKey: 'k',
      sendAttempt: 0,
      workflowId: 'w',
      runId: 'r',
      video,
    };
    const journal = { findTask: async () => [entry] } as unknown as CreateJournal;
    const find = createFindVideoTask({ accounts, journal });
    const { taskId } = video;
    for (const account of ['elsewhere', 'elsewhere@00000000'])
      expect(await find({ taskId, account })).toMatchObject({
        creationKey: 'k',
        video: { source: 'journal' },
      });
    expect(await find({ taskId, account: 'other' })).toMatchObject({ creationKey: null });
  });
});
