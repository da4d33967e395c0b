import { MockActivityEnvironment } from '@temporalio/testing';
import { createCampaignImage, createCreateVideos } from '../../src/activities/campaign/create-rows';
import { type PaidDeps } from '../../src/activities/paid-context';
import {
  type CreateVideosInput,
  type CreateVideosResult,
  type GroupedCreate,
} from '../../src/domain/campaign/campaign-activities';
import { type CheckBinding } from '../../src/domain/journal';
import { CreateHarness, PAGE, rowOf, video } from './campaign/create-harness';

const MISTAKEN = { outcome: 'not_sent', cause: 'internal_error', reason: 'internal_error', permanent: true };
const LATE_BINDING: CheckBinding = async () => ({
  bound: true,
  journalId: 'the-journal',
  boundSince: new Date(1).toISOString(),
});

describe('a mistake of ours while a paid call is prepared', () => {
  let harness: CreateHarness;
  let deps: PaidDeps;

  beforeEach(async () => {
    harness = await CreateHarness.open((_, response) => void response.end('{}'));
    const broken = { lookup: () => Promise.reject(new TypeError('undefined is not a function')) };
    deps = { ...harness.deps, models: { ...harness.models, ...broken } };
    harness.rows = [
      rowOf(0, video('a pier')),
      rowOf(1, { operation: 'generate_image', request: { model: 'image-2', prompt: 'a pier' } }),
    ];
  });
  afterEach(() => harness.close());

  const environment = (attempt: object): MockActivityEnvironment =>
    new MockActivityEnvironment({
      startToCloseTimeoutMs: 480_000,
      heartbeatTimeoutMs: 10_000,
      retryPolicy: { maximumAttempts: 5 },
      attempt: 1,
      ...attempt,
    });

  const create = async (own: Partial<GroupedCreate> = {}, attempt = {}): Promise<unknown> => {
    const row = { page: PAGE, index: 0, creationKey: 'row-0', ...own };
    const call = createCreateVideos(deps, harness.pages);
    const { answers } = await environment(attempt).run<[CreateVideosInput], CreateVideosResult, typeof call>(
      call,
      { rows: [row] },
    );
    return answers[0];
  };

  const image = (
    own: { readonly recordedSince?: string } = {},
    checkBinding = deps.checkBinding,
  ): Promise<unknown> =>
    environment({}).run(createCampaignImage({ ...deps, checkBinding }, harness.pages), {
      page: PAGE,
      index: 1,
      creationKey: 'row-1',
      ...own,
    });

  it('ends a call of which nothing was sent before', async () => {
    expect(await create()).toMatchObject(MISTAKEN);
    expect(await image()).toMatchObject({ outcome: 'rejected', reason: 'internal_error' });
  });

  it('[C4.4c] is no proof that nothing was sent where another journal may have the call', async () => {
    await expect(image({ recordedSince: new Date(0).toISOString() }, LATE_BINDING)).rejects.toThrow();
    const answer = await create({ sameKey: 'lost' }).catch((error: unknown) => error);
    expect(answer).not.toMatchObject({ outcome: 'not_sent' });
    const lost = { intents: ['sent'], taskIds: [null] };
    const later = await create({}, { attempt: 2, heartbeatDetails: lost }).catch((error: unknown) => error);
    expect(later).not.toMatchObject({ outcome: 'not_sent' });
  });
});
