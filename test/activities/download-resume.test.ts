import { videoTaskById } from '../../src/domain/video-task';
import { makeMp4 } from '../stores/artifacts/make-media';
import { DownloadHarness, fileAnswer, inTurn, sha256, status, TASK_ID } from './download-harness';

let harness: DownloadHarness;
let mp4: Buffer;
let other: Buffer;
beforeAll(async () => {
  [mp4, other] = [await makeMp4(20), await makeMp4(20, 99)];
});
beforeEach(async () => {
  harness = await DownloadHarness.open();
});
afterEach(() => harness.close());

it('goes on where a cut download stopped, and the bytes are those of the file', async () => {
  harness.content = inTurn(harness.cut(mp4, 30_000, '"e1"'), fileAnswer(mp4, '"e1"'));
  const { result, failures } = await harness.run();
  expect(failures.map((failure) => failure.class)).toEqual(['network']);
  expect(result).toMatchObject({
    outcome: 'downloaded',
    artifact: { sha256: sha256(mp4), bytes: mp4.length },
  });
  const [, second] = harness.seen.filter(({ place }) => place === 'content');
  expect(second!.request.headers).toMatchObject({ 'if-range': '"e1"', range: 'bytes=30000-' });
  expect(await harness.parts()).toEqual([]);
});

it('starts again without a strong ETag', async () => {
  harness.content = inTurn(harness.cut(mp4, 30_000, 'W/"weak"'), fileAnswer(mp4));
  const { result } = await harness.run();
  expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  const [, second] = harness.seen.filter(({ place }) => place === 'content');
  expect(second!.request.headers).not.toHaveProperty('range');
});

it.each([
  ['a whole other entity', () => fileAnswer(other, '"e2"')],
  [
    'a range of another entity',
    () =>
      inTurn(
        (request, response) => {
          const from = Number(/\d+/.exec(request.headers.range!)![0]);
          response.writeHead(206, {
            etag: '"e2"',
            'content-range': `bytes ${from}-${other.length - 1}/${other.length}`,
          });
          response.end(other.subarray(from));
        },
        fileAnswer(other, '"e2"'),
      ),
  ],
  [
    'a range from another place',
    () =>
      inTurn(
        (_request, response) => {
          response.writeHead(206, {
            etag: '"e1"',
            'content-range': `bytes 5-${mp4.length - 1}/${mp4.length}`,
          });
          response.end(mp4.subarray(5));
        },
        fileAnswer(other, '"e2"'),
      ),
  ],
  ['416', () => inTurn(status(416), fileAnswer(other, '"e2"'))],
])('never joins the bytes of two entities: %s to a resume', async (_name, second) => {
  harness.content = inTurn(harness.cut(mp4, 30_000, '"e1"'), second());
  const { result } = await harness.run();
  expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(other) } });
  expect(await harness.parts()).toEqual([]);
});

it('starts again on a worker that does not have the part, and for another execution', async () => {
  harness.content = inTurn(harness.cut(mp4, 30_000, '"e1"'), fileAnswer(mp4, '"e1"'));
  const input = { video: videoTaskById(TASK_ID, 'default@00000000') };
  await expect(harness.attempt(1, input)).rejects.toMatchObject({ type: 'MediaRetryLater' });
  const details = harness.heartbeats.at(-1);
  expect(details).toMatchObject({ etag: '"e1"', length: mp4.length, position: 30_000 });
  expect(JSON.stringify(details)).not.toContain('127.0.0.1');
  harness.info = { activityId: 'somebody-else' };
  const result = await harness.attempt(1, input, details);
  expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  expect(harness.seen.at(-1)!.request.headers).not.toHaveProperty('range');
});

it('takes a part that is complete already without fetching it again', async () => {
  harness.content = fileAnswer(mp4, '"e1"');
  const real = harness.store;
  const failing = Object.create(real) as typeof real;
  failing.stage = async (owner) => {
    const part = await real.stage(owner);
    part.publish = async () => {
      await part.close();
      throw Object.assign(new Error('disk'), { code: 'ENOSPC' });
    };
    return part;
  };
  harness.store = failing;
  const { result, failures } = await harness.run({}, () => {
    harness.store = real;
  });
  expect(failures.map((failure) => failure.class)).toEqual(['storage']);
  expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  expect(harness.count('content')).toBe(1);
});

it('a drip and a body without an end of its own are given up for this try', async () => {
  const drip = harness.cut(mp4, 200);
  harness.content = inTurn(
    (request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' });
      const timer = setInterval(() => response.write(mp4.subarray(0, 1)), 10);
      response.write(mp4.subarray(0, 100));
      response.on('close', () => clearInterval(timer));
      void request;
    },
    drip,
    fileAnswer(mp4),
  );
  harness.bounds = { rateWindowMs: 200, minBytesPerRateWindow: 10_000 };
  const { result, failures } = await harness.run();
  expect(failures.map((failure) => failure.class)).toEqual(['network', 'network']);
  expect(result.outcome).toBe('downloaded');
});

describe('cancellation', () => {
  const stuck = () => {
    harness.content = (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': mp4.length, etag: '"e1"' });
      response.write(mp4.subarray(0, 30_000));
    };
  };

  it('a cancelled download ends at once and leaves nothing', async () => {
    stuck();
    const running = harness.run();
    await harness.stored(30_000);
    harness.environment!.cancel('CANCELLED');
    await expect(running).rejects.toMatchObject({ name: 'CancelledFailure' });
    expect(await harness.parts()).toEqual([]);
  });

  it('a worker that stops hands the part over to the next try', async () => {
    stuck();
    const running = harness.attempt(1, { video: videoTaskById(TASK_ID, 'default@00000000') });
    await harness.stored(30_000);
    harness.environment!.cancel('WORKER_SHUTDOWN');
    await expect(running).rejects.toMatchObject({
      type: 'MediaRetryLater',
      nonRetryable: false,
      message: 'The worker stopped during the download.',
      nextRetryDelay: 1_000,
      details: [{ class: 'worker_shutdown', httpStatus: null, delayMs: 1_000, retryAfterMs: null }],
    });
    harness.content = fileAnswer(mp4, '"e1"');
    const result = await harness.attempt(
      2,
      { video: videoTaskById(TASK_ID, 'default@00000000') },
      harness.heartbeats.at(-1),
    );
    expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  });
});
