import { DEFAULT_START_LIMIT_MS } from '../../src/domain/create-once';
import { DOWNLOAD_BOUNDS } from '../../src/domain/download';
import { DOWNLOAD_TIMEOUTS } from '../../src/domain/timeouts';
import { videoTaskById } from '../../src/domain/video-task';
import { makeMp4 } from '../stores/artifacts/make-media';
import { type Answer, DownloadHarness, fileAnswer, inTurn, status, TASK_ID } from './download-harness';

let harness: DownloadHarness;
let mp4: Buffer;
beforeAll(async () => {
  mp4 = await makeMp4(20);
});
beforeEach(async () => {
  harness = await DownloadHarness.open();
});
afterEach(() => harness.close());

it('[C4.2] [C3.3] content that is not ready is asked for again and then taken; nothing is created', async () => {
  harness.content = inTurn(status(404), status(409), status(400), fileAnswer(mp4));
  const { result, failures } = await harness.run();
  expect(failures.map((failure) => failure.httpStatus)).toEqual([404, 409, 400]);
  expect(result.outcome).toBe('downloaded');
  expect(harness.seen.every(({ request }) => request.method === 'GET')).toBe(true);
});

it('[C4.2] [C8.6] content that never comes is reported after a bound, in tries or in time', async () => {
  harness.content = status(404);
  const { result, failures } = await harness.run();
  expect(result).toMatchObject({
    outcome: 'content_unavailable',
    reason: 'not_ready',
    httpStatus: 404,
    rejected: null,
  });
  const waited = failures.reduce((sum, { delayMs }) => sum + delayMs, 0);
  expect(waited).toBeLessThanOrEqual(600_000);
  expect(waited).toBeGreaterThan(500_000);
  expect(failures.length + 1).toBeLessThanOrEqual(20);
  harness.bounds = { windowMs: 1e12 };
  harness.heartbeats.length = 0;
  expect((await harness.run()).result).toMatchObject({ reason: 'not_ready', tries: 20 });
});

it('an expired link is refreshed with the record, then reported as expired', async () => {
  harness.record = { status: 'completed', url: `${harness.mediaOrigin}/c.mp4` };
  harness.media = inTurn(status(403), fileAnswer(mp4));
  const fresh = await harness.run();
  expect(fresh.failures.map((failure) => failure.class)).toEqual(['expired']);
  expect(fresh.result.outcome).toBe('downloaded');
  expect(harness.count('record')).toBe(2);
  harness.media = status(403);
  harness.heartbeats.length = 0;
  const { result } = await harness.run();
  expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'expired', tries: 3 });
});

const gone: Answer = (_request, response) => response.destroy();

it.each([
  ['answers 503', status(503)],
  ['ends every connection', gone],
])(
  '[C4.2] [C7.4] a content endpoint that %s for hours is tried on, slower, while the record says completed',
  async (_how, away) => {
    harness.content = inTurn(away, ...Array.from({ length: 39 }, () => away), fileAnswer(mp4));
    const { result, failures } = await harness.run();
    expect(result.outcome).toBe('downloaded');
    const waits = failures.map(({ delayMs }) => delayMs);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(2 * 3_600_000);
    expect(new Set(waits.slice(-20))).toEqual(new Set([DOWNLOAD_BOUNDS.livingDelayMs]));
  },
);

it('[C8.6] a content endpoint that stays away is given up within a day, and so is one whose record says failed at once', async () => {
  harness.content = status(503);
  const { result, failures } = await harness.run();
  expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'not_ready', httpStatus: 503 });
  const waited = failures.reduce((sum, { delayMs }) => sum + delayMs, 0);
  expect(waited).toBeLessThanOrEqual(DOWNLOAD_BOUNDS.livingWindowMs);
  expect(waited).toBeGreaterThan(23 * 3_600_000);
  harness.record = { status: 'failed' };
  harness.heartbeats.length = 0;
  const failed = await harness.run();
  expect(failed.failures.reduce((sum, { delayMs }) => sum + delayMs, 0)).toBeLessThanOrEqual(600_000);
});

it('a download may wait for a worker as long as a create, and then for a place that is away', () => {
  const both = DEFAULT_START_LIMIT_MS + DOWNLOAD_BOUNDS.livingWindowMs;
  expect(DOWNLOAD_TIMEOUTS.scheduleToCloseMs).toBeGreaterThanOrEqual(both);
});

it('what its record calls expired is asked for once, and said to be expired at once', async () => {
  const goneAt = Math.floor(harness.now / 1000) - 3_600;
  harness.record = { status: 'completed', expires_at: goneAt };
  harness.content = status(404);
  expect((await harness.run()).result).toMatchObject({
    outcome: 'content_unavailable',
    reason: 'expired',
    tries: 1,
    message: expect.stringContaining(new Date(goneAt * 1000).toISOString()) as string,
  });
  // A wrong clock loses nothing that is there, and what is kept is tried for.
  harness.content = fileAnswer(mp4);
  expect((await harness.run()).result.outcome).toBe('downloaded');
  harness.record = { status: 'completed', expires_at: goneAt + 7_200 };
  harness.content = inTurn(status(404), fileAnswer(mp4));
  expect((await harness.run()).result.outcome).toBe('downloaded');
});

it('[C7.3] 401 asks for credentials and is tried once a minute', async () => {
  harness.content = status(401);
  const { result, failures } = await harness.run();
  expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'auth', httpStatus: 401 });
  for (const failure of failures) expect(failure).toMatchObject({ class: 'credentials', delayMs: 60_000 });
});

it('[C7.4] [C8.7] 429 and 503 are tried again, never before Retry-After', async () => {
  harness.content = inTurn(
    status(429, '', { 'retry-after': '77' }),
    status(503, '', { 'retry-after': '1' }),
    status(502),
    fileAnswer(mp4),
  );
  const { result, failures } = await harness.run();
  expect(failures.map((failure) => failure.class)).toEqual(['rate_limited', 'unavailable', 'unavailable']);
  expect(failures[0]!.delayMs).toBe(77_000);
  expect(failures[1]!.delayMs).toBeGreaterThanOrEqual(1_000);
  expect(result.outcome).toBe('downloaded');
});

it('[C8.7] a Retry-After that does not fit into the bound ends the tries instead of being shortened', async () => {
  harness.content = status(429, '', { 'retry-after': '90000' });
  const { result, failures } = await harness.run();
  expect(failures).toEqual([]);
  expect(result).toMatchObject({
    outcome: 'content_unavailable',
    reason: 'not_ready',
    httpStatus: 429,
    tries: 1,
  });
});

it('[C8.7] a Retry-After to the record holds for the content of the same service', async () => {
  harness.recordStatus = 429;
  harness.record = { error: 'slow down' };
  harness.recordHeaders = { 'retry-after': '90' };
  harness.content = fileAnswer(mp4);
  const { result, failures } = await harness.run({}, () => {
    expect(harness.count('content')).toBe(0);
    harness.recordStatus = 200;
    harness.recordHeaders = {};
    harness.record = { status: 'completed' };
  });
  expect(failures).toEqual([{ class: 'rate_limited', delayMs: 90_000, httpStatus: 429 }]);
  expect(result.outcome).toBe('downloaded');
});

it('a place that the address filter refuses is final, unless another one works', async () => {
  harness.content = status(302, '', { location: 'http://169.254.169.254/latest/meta-data' });
  expect((await harness.run()).result).toMatchObject({ reason: 'blocked', tries: 1 });
  harness.record = { status: 'completed', url: `${harness.mediaOrigin}/d.mp4` };
  harness.media = fileAnswer(mp4);
  expect((await harness.run()).result.outcome).toBe('downloaded');
});

it('a store that cannot be written is tried again, then reported', async () => {
  harness.content = fileAnswer(mp4);
  harness.store = Object.assign(Object.create(harness.store) as typeof harness.store, {
    stage: () => Promise.reject(Object.assign(new Error('ENOSPC /home/me'), { code: 'ENOSPC' })),
  });
  const { result, failures } = await harness.run();
  expect(failures.length).toBeGreaterThan(3);
  expect(result).toMatchObject({ reason: 'storage', message: 'The artifact store is full (ENOSPC).' });
});

it('a worker without the account asks nobody, and leaves it to others until the server ends it', async () => {
  harness.info = { scheduleToCloseTimeoutMs: 600_000 };
  const { result, failures } = await harness.run({ video: videoTaskById(TASK_ID, 'other@11111111') });
  expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'auth' });
  expect(failures.length).toBeGreaterThan(20);
  expect(harness.seen).toEqual([]);
});
