import { MockActivityEnvironment } from '@temporalio/testing';
import { createCampaignImage } from '../../../src/activities/campaign/create-rows';
import { createImageCall } from '../../../src/activities/image-call';
import { type CampaignImageInput } from '../../../src/domain/campaign/campaign-activities';
import { type ImageOutcome } from '../../../src/domain/outcome';
import { type WaitingImage } from '../../../src/domain/paid-call';
import { type PaidRequest } from '../../../src/domain/request';
import { json } from '../../service/loopback-service';
import { makePng } from '../../stores/artifacts/make-media';
import { CreateHarness, PAGE, rowOf, video } from './create-harness';

describe('media.campaignImage', () => {
  let harness: CreateHarness;
  beforeEach(async () => {
    const b64_json = makePng(8, 8).toString('base64');
    harness = await CreateHarness.open((_, response) =>
      json(response, 200, { created: 7, data: [{ b64_json }] }),
    );
  });
  afterEach(() => harness.close());

  type Call = (input: CampaignImageInput) => Promise<ImageOutcome | WaitingImage>;
  const call = (index: number, attempt = 1): Promise<ImageOutcome | WaitingImage> =>
    new MockActivityEnvironment({
      attempt,
      startToCloseTimeoutMs: 480_000,
      retryPolicy: { maximumAttempts: 5 },
    }).run<[CampaignImageInput], ImageOutcome | WaitingImage, Call>(
      createCampaignImage(harness.deps, harness.pages),
      {
        page: PAGE,
        index,
        creationKey: `row-${index}`,
      },
    );

  it('[C4.4a] makes the call of the row as the single activity would, once', async () => {
    const generate: PaidRequest = { operation: 'generate_image', request: { model: 'm', prompt: 'a kite' } };
    harness.rows = [rowOf(0, generate)];
    const outcome = await call(0);
    const alone = new MockActivityEnvironment({ startToCloseTimeoutMs: 480_000 });
    const single = await alone.run(createImageCall('generate_image', harness.deps), {
      creationKey: 'alone',
      request: generate.request,
    });
    expect(outcome).toMatchObject({ outcome: 'completed', created: 7 });
    expect(outcome).toEqual(single);
    expect(await call(0)).toMatchObject({ outcome: 'completed' });
    expect(harness.service.seen.map(({ url }) => url)).toEqual(Array(2).fill('/v1/images/generations'));
  });

  it('[C2.4.1] an edit goes to the edits as multipart', async () => {
    const { artifacts } = harness.deps;
    const artifact = await artifacts.putBuffer(makePng(4, 4), { mediaType: 'image/png' });
    const images = [{ artifact }];
    harness.rows = [rowOf(0, { operation: 'edit_image', request: { model: 'm', prompt: 'bluer', images } })];
    expect(await call(0)).toMatchObject({ outcome: 'completed' });
    expect(harness.service.seen[0]).toMatchObject({ url: '/v1/images/edits' });
    expect(harness.service.seen[0]?.headers['content-type']).toMatch(/^multipart\/form-data/);
  });

  it('without its page it waits, and another worker may have it', async () => {
    harness.pageFails = true;
    const waiting = {
      outcome: 'not_sent',
      cause: 'page_unavailable',
      sendAttemptUsed: false,
      permanent: false,
    };
    expect(await call(0)).toMatchObject(waiting);
    expect(await call(0, 5)).toMatchObject(waiting);
    expect(harness.service.seen).toHaveLength(0);
  });

  it('[C4.4c] nor is a call that was paid for called unsent when its page cannot be read any more', async () => {
    harness.rows = [rowOf(0, { operation: 'generate_image', request: { model: 'm', prompt: 'a kite' } })];
    await call(0);
    harness.pageFails = true;
    await expect(call(0, 5)).rejects.toMatchObject({ details: [{ class: 'page_unavailable' }] });
  });

  it('a place that holds no image is refused', async () => {
    harness.rows = [rowOf(0, video('x'))];
    expect(await call(0)).toMatchObject({ outcome: 'rejected', reason: 'invalid_request' });
    expect(await call(3)).toMatchObject({ outcome: 'rejected', reason: 'invalid_request' });
  });
});
