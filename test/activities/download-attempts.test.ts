import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { digestOf } from '../../src/activities/fetch-body';
import { POLL_ERROR_CLASSES } from '../../src/domain/poll-answers';
import { videoTaskById } from '../../src/domain/video-task';
import { makeMp4 } from '../stores/artifacts/make-media';
import {
  type Answer,
  DownloadHarness,
  fileAnswer,
  inTurn,
  sha256,
  status,
  TASK_ID,
} from './download-harness';

let harness: DownloadHarness;
let mp4: Buffer;
beforeAll(async () => {
  mp4 = await makeMp4(20);
});
beforeEach(async () => {
  harness = await DownloadHarness.open();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await harness.close();
});

const input = { video: videoTaskById(TASK_ID, 'default@00000000') };
const elsewhere = { video: videoTaskById(TASK_ID, 'other@11111111') };
const retried = { type: 'MediaRetryLater', nonRetryable: false };
const gone: Answer = (_request, response) => response.destroy();
/** One failed attempt, and what it tells the next one. */
async function failed(number: number, given = input, details?: unknown): Promise<unknown> {
  await expect(harness.attempt(number, given, details)).rejects.toMatchObject(retried);
  return harness.heartbeats.at(-1);
}

describe('the time of one attempt', () => {
  it('ends a place that never answers, and the next try finds the video', async () => {
    harness.content = () => undefined;
    harness.bounds = { tryDeadlineMs: 60 };
    const { result, failures } = await harness.run({}, () => {
      harness.content = fileAnswer(mp4);
      harness.bounds = {};
    });
    expect(failures.map((failure) => failure.class)).toEqual(['network']);
    expect(result.outcome).toBe('downloaded');
  });

  it('lasts for a body that comes in parts', async () => {
    harness.content = (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': mp4.length });
      response.write(mp4.subarray(0, 30_000));
      void harness.stored(30_000).then(() => setTimeout(() => response.end(mp4.subarray(30_000)), 10));
    };
    const { result, failures } = await harness.run();
    expect(failures).toEqual([]);
    expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  });
});

describe('which try is the last, whose refused bytes are kept', () => {
  const cut = () => mp4.subarray(0, 40_000);
  const kept = () => readdir(join(harness.root, 'rejected')).catch(() => []);
  beforeEach(() => {
    harness.content = (request, response) => fileAnswer(cut())(request, response);
  });

  it.each([
    ['of the worker', { maxTries: 2 }, undefined],
    ['of the retry policy', {}, { maximumAttempts: 2 }],
  ])('the second, by the bounds %s', async (_whose, bounds, retryPolicy) => {
    harness.bounds = bounds;
    harness.info = { retryPolicy };
    const details = await failed(1);
    expect(await kept()).toEqual([]);
    expect(await harness.attempt(2, input, details)).toMatchObject({
      outcome: 'content_unavailable',
      reason: 'incomplete_file',
      tries: 2,
      rejected: { sha256: sha256(cut()) },
    });
    expect(await kept()).toEqual([`${sha256(cut())}.rejected`]);
  });

  it('none by a retry policy that has no end', async () => {
    harness.info = { retryPolicy: { maximumAttempts: 0 } };
    await failed(1);
    expect(await kept()).toEqual([]);
  });

  it('not the second when the first met a worker without the account', async () => {
    harness.bounds = { maxTries: 2 };
    const details = await failed(2, input, await failed(1, elsewhere));
    expect(await kept()).toEqual([]);
    expect(await harness.attempt(3, input, details)).toMatchObject({ rejected: { sha256: sha256(cut()) } });
  });

  it('[C8.6] the last one of the retry policy tells why there is no video', async () => {
    harness.content = status(404);
    harness.info = { retryPolicy: { maximumAttempts: 3 } };
    expect((await harness.run()).result).toMatchObject({ reason: 'not_ready', tries: 3, httpStatus: 404 });
  });
});

describe('[C8.6] the window without a byte', () => {
  beforeEach(() => {
    // A first delay of 4 s and a second of 8 s: only a window that began again has room for both.
    harness.bounds = { windowMs: 10_000, maxSameFault: 9 };
    harness.record = { status: 'failed' };
  });

  it('begins again with a connection that broke after some bytes', async () => {
    harness.content = inTurn(
      harness.cut(mp4, 20_000, '"e1"'),
      (request, response) => {
        const from = Number(/\d+/.exec(request.headers.range!)![0]);
        response.writeHead(206, {
          etag: '"e1"',
          'content-range': `bytes ${from}-${mp4.length - 1}/${mp4.length}`,
        });
        response.write(mp4.subarray(from, from + 10_000));
        void harness.stored(from + 10_000).then(() => response.destroy());
      },
      fileAnswer(mp4, '"e1"'),
    );
    const { result, failures } = await harness.run();
    expect(failures.map((failure) => failure.class)).toEqual(['network', 'network']);
    expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
  });

  it.each<[string, () => Answer]>([
    ['a connection that broke before any', () => gone],
    ['a whole file that is damaged', () => fileAnswer(mp4.subarray(0, 40_000))],
  ])('does not with %s', async (_name, content) => {
    harness.content = content();
    expect((await harness.run()).result).toMatchObject({ outcome: 'content_unavailable', tries: 2 });
  });

  it('begins when a worker first took the activity, and when it was scheduled where that is not known', async () => {
    harness.content = status(404);
    harness.info = { scheduledTimestampMs: harness.now - 3_600_000 };
    await failed(1);
    expect(await harness.attempt(2, input)).toMatchObject({ reason: 'not_ready', tries: 2 });
  });

  it('does not run while only workers without the account take it', async () => {
    harness.content = status(404);
    let details = await failed(1, elsewhere);
    harness.now += 3_600_000;
    details = await failed(2, elsewhere, details);
    harness.now += 4_000;
    await failed(3, input, details);
    expect(harness.count('content')).toBe(1);
  });
});

describe('when the server closes the activity', () => {
  beforeEach(() => {
    harness.content = status(404);
  });

  it.each([
    ['before the next try could do anything', 0, 33_999],
    ['at once', 59_999, 60_000],
  ])('%s, this try is the last', async (_when, agoMs, scheduleToCloseTimeoutMs) => {
    harness.info = { scheduledTimestampMs: harness.now - agoMs, scheduleToCloseTimeoutMs };
    expect(await harness.attempt(2, input)).toMatchObject({ reason: 'not_ready', tries: 2 });
  });

  it.each([
    ['just after the next try', 0, 34_000],
    ['never', 0, 0],
  ])('%s, another try follows', async (_when, agoMs, scheduleToCloseTimeoutMs) => {
    harness.info = { scheduledTimestampMs: harness.now - agoMs, scheduleToCloseTimeoutMs };
    await failed(1);
  });
});

describe('a worker without the account', () => {
  it('says so, and asks for another worker soon, each time at another moment', async () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0);
    const told = {
      message: "This worker does not have the task's account, so nothing was requested. The task is kept.",
    };
    await expect(harness.attempt(1, elsewhere)).rejects.toMatchObject({
      ...retried,
      ...told,
      nextRetryDelay: 2_000,
      details: [{ class: 'account_not_configured', httpStatus: null, delayMs: 2_000, retryAfterMs: null }],
    });
    random.mockReturnValue(0.75);
    await expect(harness.attempt(1, elsewhere)).rejects.toMatchObject({ ...told, nextRetryDelay: 5_000 });
    harness.content = status(404);
    await expect(harness.attempt(1, input)).rejects.toMatchObject({ nextRetryDelay: 4_000 });
  });
});

describe('a part of another execution', () => {
  it.each([
    ['workflow', { workflowId: 'another', runId: '00000000-0000-0000-0000-000000000000' }],
    ['run', { workflowId: 'test', runId: '11111111-0000-0000-0000-000000000000' }],
  ])('is not continued: another %s', async (_what, workflowExecution) => {
    harness.content = inTurn(harness.cut(mp4, 30_000, '"e1"'), fileAnswer(mp4, '"e1"'));
    const details = await failed(1);
    harness.info = { workflowExecution };
    expect(await harness.attempt(2, input, details)).toMatchObject({ outcome: 'downloaded' });
    expect(harness.seen.at(-1)!.request.headers).not.toHaveProperty('range');
  });

  it('an activity without a workflow continues its own', async () => {
    harness.info = { workflowExecution: undefined, inWorkflow: false };
    harness.content = inTurn(harness.cut(mp4, 30_000, '"e1"'), fileAnswer(mp4, '"e1"'));
    const details = await failed(1);
    expect(details).toMatchObject({ owner: digestOf('', '', 'download-1') });
    expect(await harness.attempt(2, input, details)).toMatchObject({ outcome: 'downloaded' });
    expect(harness.seen.at(-1)!.request.headers).toMatchObject({ range: 'bytes=30000-' });
  });
});

describe('a video that came', () => {
  it('is not lost because its sidecar could not be stored', async () => {
    harness.content = fileAnswer(mp4);
    jest.spyOn(harness.store, 'putBuffer').mockRejectedValue(new Error('no room'));
    harness.recordStatus = 500;
    harness.record = { error: 'broken' };
    const { result } = await harness.run();
    expect(result).toMatchObject({
      outcome: 'downloaded',
      sidecar: null,
      artifact: { sha256: sha256(mp4) },
      warnings: [
        'The record could not be read, so the reported facts and the usage are unknown.',
        'The sidecar could not be stored.',
      ],
    });
    expect(result).not.toHaveProperty('usage');
  });

  it('has a side-car with its times, those of the last try', async () => {
    harness.content = inTurn(status(404), fileAnswer(mp4));
    const { result } = await harness.run();
    const sidecar = result.outcome === 'downloaded' ? result.sidecar! : undefined;
    expect(JSON.parse((await buffer(await harness.store.read(sidecar!))).toString())).toMatchObject({
      timings: {
        scheduledAt: '2026-01-01T00:00:00.000Z',
        startedAt: expect.stringMatching(ISO_8601) as string,
        finishedAt: expect.stringMatching(ISO_8601) as string,
        tries: 2,
      },
    });
  });
});

const ISO_8601 = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;

describe('the record of the task', () => {
  it('is read with the sockets of downloads, so that polls need not wait, and no longer than the activity lasts', async () => {
    const asked = jest.spyOn(harness.client, 'getVideo');
    harness.content = fileAnswer(mp4);
    await harness.run();
    const [taskId, { purpose, signal } = {}] = asked.mock.calls[0]!;
    expect([taskId, purpose, signal?.aborted]).toEqual([TASK_ID, 'content', false]);
    harness.environment!.cancel('CANCELLED');
    expect(signal?.aborted).toBe(true);
  });

  const away = ['network', 'rate_limited', 'unavailable'];
  it.each(POLL_ERROR_CLASSES.map((error) => [error, away.includes(error) ? 3 : 1] as const))(
    'that cannot be read for %s leaves a content endpoint that is away %i tries',
    async (error, tries) => {
      harness.content = status(503);
      harness.bounds = { maxTries: 1, livingTries: 3 };
      jest.spyOn(harness.client, 'getVideo').mockResolvedValue({ kind: 'error', error });
      expect((await harness.run()).result).toMatchObject({ outcome: 'content_unavailable', tries });
    },
  );
});

describe('a result that its record says is kept no longer', () => {
  const until = Date.parse('2026-01-01T00:00:00Z');
  const over = 'The service kept the result only until 2026-01-01T00:00:00.000Z and no longer has it';
  beforeEach(() => {
    harness.record = { status: 'completed', expires_at: until / 1000 };
  });

  it.each([
    [404, 60_000, `${over} (HTTP 404).`],
    [410, 60_000, `${over} (HTTP 410).`],
  ])('is not asked for again after %i', async (code, afterMs, message) => {
    harness.content = status(code);
    harness.now = until + afterMs;
    const result = await harness.attempt(1, input);
    expect(result).toMatchObject({ reason: 'expired', tries: 1, httpStatus: code, message });
  });

  it('needs no status where the client knows no address', async () => {
    jest.spyOn(harness.client, 'contentUrl').mockImplementation(() => {
      throw new Error('not a task id');
    });
    harness.now = until + 60_000;
    const result = await harness.attempt(1, input);
    expect(result).toMatchObject({ reason: 'expired', message: `${over}.` });
    expect(result).not.toHaveProperty('httpStatus');
  });

  it.each([
    ['404 while clocks may still differ', status(404), 59_999, 'missing'],
    ['410 while clocks may still differ', status(410), 59_999, 'expired'],
    ['503 later on', status(503), 3_600_000, 'unavailable'],
    ['a page later on', status(200, '<html>'), 3_600_000, 'not_video'],
  ])('is asked for again after %s', async (_what, answer, afterMs, word) => {
    harness.content = answer;
    harness.now = until + afterMs;
    await expect(harness.attempt(1, input)).rejects.toMatchObject({ ...retried, details: [{ class: word }] });
  });
});

it('a fault of our own is no fault of the store: it is thrown as it is', async () => {
  harness.content = fileAnswer(mp4);
  const fault = new TypeError('undefined is not a function');
  jest.spyOn(harness.store, 'stage').mockRejectedValue(fault);
  await expect(harness.attempt(1, input)).rejects.toBe(fault);
});
