import { MockActivityEnvironment } from '@temporalio/testing';
import { createCampaignImage, createCreateVideos } from '../../../src/activities/campaign/create-rows';
import {
  type GroupedCreate,
  type CreateVideosInput,
  type CreateVideosResult,
} from '../../../src/domain/campaign/campaign-activities';
import { type CheckBinding } from '../../../src/domain/journal';
import { CreateHarness, PAGE } from './create-harness';

const elsewhere: CheckBinding = async () => ({ bound: false, message: 'The queue has another journal.' });
const later: CheckBinding = async () => ({
  bound: true,
  journalId: 'the-journal',
  boundSince: new Date(1).toISOString(),
});
const UNSENT = { outcome: 'not_sent', cause: 'page_unavailable', sendAttemptUsed: false, permanent: false };

describe('a row whose page cannot be read, and whose journal is not the one that an attempt before had', () => {
  let harness: CreateHarness;
  beforeEach(async () => {
    harness = await CreateHarness.open((_, response) => void response.end('{}'));
    harness.pageFails = true;
  });
  afterEach(() => harness.close());

  const info = { startToCloseTimeoutMs: 480_000, heartbeatTimeoutMs: 10_000 };
  interface Attempt {
    readonly attempt: number;
    readonly scheduledTimestampMs?: number;
    readonly heartbeatDetails?: object;
  }
  const image = (
    attempt: Attempt,
    checkBinding = harness.deps.checkBinding,
    own: { readonly recordedSince?: string } = {},
  ): Promise<unknown> => {
    const call = createCampaignImage({ ...harness.deps, checkBinding }, harness.pages);
    const environment = new MockActivityEnvironment({
      ...info,
      ...attempt,
      retryPolicy: { maximumAttempts: 5 },
    });
    return environment.run(call, { page: PAGE, index: 0, creationKey: 'row-0', ...own });
  };
  const videos = async (
    attempt: Attempt,
    own: Partial<GroupedCreate> = {},
    checkBinding = harness.deps.checkBinding,
  ): Promise<unknown> => {
    const call = createCreateVideos({ ...harness.deps, checkBinding }, harness.pages);
    const row = { page: PAGE, index: 0, creationKey: 'row-0', ...own };
    const input: CreateVideosInput = { rows: [row] };
    const environment = new MockActivityEnvironment({ ...info, ...attempt });
    const result = await environment.run<[CreateVideosInput], CreateVideosResult, typeof call>(call, input);
    return result.answers[0];
  };

  const lost = {
    attempt: 2,
    heartbeatDetails: { intent: 'sent', intents: ['sent'], taskIds: [null] },
  };

  it('[C4.4c] is not called unsent where its sender spoke of an intent that is lost', async () => {
    await expect(image(lost)).rejects.toMatchObject({ details: [{ class: 'page_unavailable' }] });
    expect(await videos(lost)).toMatchObject({ outcome: 'pending' });
  });

  it('[C4.4c] nor where the worker of this attempt has a journal that its queue does not belong to', async () => {
    for (const attempt of [lost, { attempt: 2 }]) {
      await expect(image(attempt, elsewhere)).rejects.toMatchObject({
        details: [{ class: 'page_unavailable' }],
      });
      expect(await videos(attempt, {}, elsewhere)).toMatchObject({ outcome: 'pending' });
    }
  });

  it('[C4.4c] nor where it is to be sent once more under its key, and nothing is known of the first time', async () => {
    const first = { attempt: 1 };
    expect(await videos(first, { sameKey: 'ours' })).toMatchObject({ outcome: 'pending' });
    expect(await videos(first, { sameKey: 'ours' }, elsewhere)).toMatchObject({ outcome: 'pending' });
  });

  it('[C4.4c] nor where an attempt before may have been with a worker of another journal', async () => {
    const attempt = { attempt: 2, scheduledTimestampMs: 0 };
    await expect(image(attempt, later)).rejects.toMatchObject({ details: [{ class: 'page_unavailable' }] });
    expect(await videos(attempt, {}, later)).toMatchObject({ outcome: 'pending' });
    // It was scheduled when every worker had heard of this one.
    const since = { ...attempt, scheduledTimestampMs: 1 };
    expect(await image(since, later)).toMatchObject(UNSENT);
    expect(await videos(since, {}, later)).toMatchObject(UNSENT);
  });

  it('[C4.4c] nor where a call of before is looked up that only another journal may know', async () => {
    const since = new Date(0).toISOString();
    for (const checkBinding of [later, elsewhere])
      await expect(image({ attempt: 1 }, checkBinding, { recordedSince: since })).rejects.toMatchObject({
        details: [{ class: 'page_unavailable' }],
      });
  });

  it('waits unsent where no attempt was before it, or one that wrote nothing in this journal', async () => {
    const idle = { intent: null, intents: [null], taskIds: [null] };
    for (const attempt of [{ attempt: 1 }, { attempt: 2, heartbeatDetails: idle }]) {
      expect(await image(attempt)).toMatchObject(UNSENT);
      expect(await videos(attempt)).toMatchObject(UNSENT);
    }
    // Its page is the smaller fault: what a person has to mend is named.
    expect(await image({ attempt: 1 }, elsewhere)).toMatchObject({
      ...UNSENT,
      cause: 'journal_not_bound',
      message: 'The queue has another journal.',
    });
  });
});
