import { defaultPayloadConverter } from '@temporalio/common';
import { type LoadedRun } from '../../../packages/replay/src/loaded-history';
import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import { type Timeline } from '../../../packages/replay/src/timeline/timeline';
import { ACTIVITY } from '../../../src/domain/names';
import {
  activity,
  begin,
  payloads,
  retryLater,
  START,
  task,
  timer,
  written,
  type WrittenActivity,
  type WrittenEvent,
  writtenRun,
} from './written-history';

const timelineOf = (events: readonly WrittenEvent[], more: Partial<LoadedRun> = {}): Timeline =>
  buildTimeline({ target: 'film', runs: [writtenRun('generateVideo', events, more)] });

/** Seconds by what they went to. */
const seconds = ({ spent }: Timeline): object =>
  Object.fromEntries(spent.map(({ on, ms }) => [on, ms / 1000]));
const texts = ({ entries }: Timeline): string[] => entries.map(({ text }) => text);

const doing = (name: string, given: WrittenActivity) => (events: number) => activity(events, name, given);
const waiting = (summary: string, at: number, firedAt: number) => (events: number) =>
  timer(events, summary, at, firedAt);
const tasks = (at: number) => () => task(at);
const started = () => begin({ request: { model: 'cine-1' } });
const events =
  (...given: WrittenEvent[]) =>
  () =>
    given;

describe('a wait before the next create', () => {
  const after = (result: object) =>
    timelineOf(
      written(
        started,
        doing(ACTIVITY.createVideo, { at: 0, endedAt: 0, result: { sendAttempt: 0, ...result } }),
        tasks(0),
        waiting('wait before the next create', 0, 10),
        tasks(10),
      ),
    );
  const at = (second: number): string => new Date(START + second * 1000).toISOString();

  it('is what the service asked for, exactly, and our own backoff', () => {
    const refused = { outcome: 'refused_for_now', httpStatus: 429, sent: true, error: {} };
    const timeline = after({ ...refused, notBefore: at(7) });
    expect(seconds(timeline)).toEqual({ retry_after: 7, own_backoff: 3 });
    expect(texts(timeline).at(-1)).toBe(
      `Waited 10 s before the next send: the service asked not to be called before ${at(7)}`,
    );
    expect(seconds(after({ ...refused, notBefore: null }))).toEqual({ own_backoff: 10 });
  });

  it.each([
    ['a key', 'refusal_stands', 'credentials', 'waiting_for_key', 'waiting for a valid key (401)'],
    ['a key of the worker', 'no_key', 'credentials', 'waiting_for_key', 'waiting for a valid key (401)'],
    ['the balance', 'refusal_stands', 'quota', 'waiting_for_money', 'waiting for money'],
    ['the spend limit', 'spend_limit', 'spend_limit', 'waiting_for_money', 'waiting for money'],
    ['its turn', 'account_rate', undefined, 'waiting_for_slot', 'waiting for a slot'],
    ['the journal', 'journal_unavailable', undefined, 'own_backoff', 'our own backoff'],
  ])('is for %s (%s)', (_what, cause, reason, on, words) => {
    const timeline = after({ outcome: 'not_sent', cause, reason, sent: false, heldUntil: at(8) });
    expect(seconds(timeline)).toEqual({ [on]: 10 });
    expect(texts(timeline).at(-1)).toBe(`Waited 10 s before the next send: ${words}`);
  });
});

describe('a wait before the next poll', () => {
  const after = (answer: object) =>
    timelineOf(
      written(
        started,
        doing(ACTIVITY.pollVideos, {
          at: 0,
          endedAt: 0,
          input: { byModel: [{ ids: ['task-1'] }] },
          result: { answers: [{ index: 0, ...answer }] },
        }),
        tasks(0),
        waiting('next poll of 1 video', 0, 60),
        tasks(60),
      ),
    );

  it.each([
    ['a refused key', { error: 'credentials', httpStatus: 401 }, { waiting_for_key: 60 }],
    ['a fault of the service', { error: 'unavailable', httpStatus: 503 }, { own_backoff: 60 }],
    ['Retry-After', { error: 'rate_limited', retryAfterMs: 45_000 }, { retry_after: 45, own_backoff: 15 }],
    ['a late answer', { error: 'late', unsent: true }, { waiting_for_polls: 60 }],
    ['a record', { digest: 'd', record: { status: 'queued' } }, { waiting_for_polls: 60 }],
  ])('after %s', (_what, answer, expected) => {
    expect(seconds(after(answer))).toEqual(expected);
  });
});

describe('an activity that was retried', () => {
  const downloaded = (attempt: number, details: object) =>
    timelineOf(
      written(
        started,
        doing(ACTIVITY.downloadVideo, {
          at: 0,
          startedAt: 200,
          endedAt: 210,
          attempt,
          lastFailure: retryLater(details),
          result: { outcome: 'downloaded', artifact: { bytes: 1000 } },
        }),
        tasks(210),
      ),
    );

  it('tells its tries and the cause of the one before', () => {
    const timeline = downloaded(3, { class: 'unavailable', httpStatus: 503, delayMs: 8_000 });
    expect(texts(timeline).at(-1)).toBe(
      'Download: 1.0 kB stored in 3 min 30 s; attempt 3, previous failure: unavailable (HTTP 503)',
    );
    expect(seconds(timeline)).toEqual({ downloading: 202, own_backoff: 8 });
  });

  it('of your own shows no sentence that its failure may repeat', () => {
    const prompt = 'a kite over the sea, seen from below';
    const timeline = timelineOf(
      written(
        started,
        doing('render', {
          at: 0,
          startedAt: 5,
          endedAt: 6,
          attempt: 2,
          lastFailure: { applicationFailureInfo: { type: prompt, details: payloads({ class: prompt }) } },
        }),
        tasks(6),
      ),
    );
    expect(texts(timeline).at(-1)).toBe(
      'Activity render completed in 6 s; attempt 2, previous failure: Error',
    );
    expect(JSON.stringify(timeline)).not.toContain('kite');
  });

  it('has exactly what the service asked for beside our own backoff, and each wait for a key', () => {
    const limited = downloaded(2, { class: 'rate_limited', delayMs: 60_000, retryAfterMs: 45_000 });
    expect(seconds(limited)).toEqual({ downloading: 150, retry_after: 45, own_backoff: 15 });
    const refused = downloaded(4, { class: 'credentials', httpStatus: 401, delayMs: 60_000 });
    expect(seconds(refused)).toEqual({ waiting_for_key: 180, downloading: 30 });
  });
});

describe('workflow tasks', () => {
  const failure = { failure: { message: 'x', applicationFailureInfo: { type: 'TypeError' } } };

  it('that fail are time in which workflow code fails, up to the try that succeeds', () => {
    const timeline = timelineOf(
      written(
        () => [[0, 'workflowExecutionStarted', {}]],
        events([0, 'workflowTaskScheduled'], [5, 'workflowTaskStarted'], [6, 'workflowTaskFailed', failure]),
        // A server writes the later tries only when one of them succeeds.
        events([596, 'workflowTaskScheduled'], [600, 'workflowTaskStarted'], [601, 'workflowTaskCompleted']),
      ),
    );
    expect(seconds(timeline)).toEqual({ waiting_for_worker: 5, workflow_failing: 595, workflow_code: 1 });
  });

  it('that fail until now have no end', () => {
    const timeline = timelineOf(
      written(
        () => [[0, 'workflowExecutionStarted', {}]],
        events([0, 'workflowTaskScheduled'], [0, 'workflowTaskStarted'], [1, 'workflowTaskFailed', failure]),
      ),
      { readAt: START + 3_600_000 },
    );
    expect(seconds(timeline)).toEqual({ workflow_failing: 3600 });
  });

  it('that no worker took are a wait for a worker', () => {
    const timeline = timelineOf(
      written(
        () => [[0, 'workflowExecutionStarted', {}]],
        events([0, 'workflowTaskScheduled'], [10, 'workflowTaskTimedOut']),
        events([10, 'workflowTaskScheduled'], [40, 'workflowTaskStarted'], [40, 'workflowTaskCompleted']),
      ),
    );
    expect(seconds(timeline)).toEqual({ waiting_for_worker: 40 });
  });
});

describe('a running execution', () => {
  const readAt = START + 100_000;
  const open = (pending?: LoadedRun['pending']) =>
    timelineOf(written(started, events([0, 'activityTaskScheduled', scheduled])), {
      readAt,
      ...(pending !== undefined && { pending }),
    });
  const scheduled = { activityId: 'one', activityType: { name: ACTIVITY.downloadVideo } };
  const pending = { activityId: 'one', attempt: 1, startedAt: null, triedUntil: null, offeredAt: null };
  const details = { class: 'credentials', httpStatus: 401, delayMs: 60_000 };
  const lastFailure = {
    applicationFailureInfo: {
      type: 'MediaRetryLater',
      details: { payloads: [defaultPayloadConverter.toPayload(details)] },
    },
  };

  it('has bars up to when it was read', () => {
    const timeline = open();
    expect(timeline.readAt).toBe(new Date(readAt).toISOString());
    expect(timeline.entries.at(-1)).toMatchObject({
      until: timeline.readAt,
      text: 'Download: waiting for a worker or running',
    });
    expect(seconds(timeline)).toEqual({ downloading: 100 });
  });

  it('waits for a worker where the server says that none has the activity', () => {
    const timeline = open([{ ...pending, lastFailure: null }]);
    expect(texts(timeline).at(-1)).toBe('Download: waiting for a worker');
    expect(seconds(timeline)).toEqual({ waiting_for_worker: 100 });
  });

  it('has the try that is under way, and why the one before it failed', () => {
    const timeline = open([{ ...pending, attempt: 2, startedAt: START + 70_000, lastFailure }]);
    expect(texts(timeline).at(-1)).toBe(
      'Download: running; attempt 2, previous failure: credentials (HTTP 401)',
    );
    expect(seconds(timeline)).toEqual({ waiting_for_key: 60, downloading: 40 });
  });

  it('has the pause before the next try', () => {
    const next = { ...pending, attempt: 2, triedUntil: START + 50_000, offeredAt: START + 110_000 };
    const timeline = open([{ ...next, lastFailure }]);
    expect(seconds(timeline)).toEqual({ downloading: 50, waiting_for_key: 50 });
  });
});

describe('a run that was reset after its end', () => {
  it('was over until then', () => {
    const first = written(started, tasks(10), events([10, 'workflowExecutionCompleted']));
    const reset = { newRunId: 'run-2', baseRunId: 'run-1' };
    const second = written(
      started,
      events([0, 'workflowTaskScheduled'], [0, 'workflowTaskStarted']),
      events([500, 'workflowTaskFailed', reset]),
      tasks(500),
      events([505, 'workflowExecutionCompleted']),
    );
    const runs = [
      writtenRun('generateVideo', first),
      writtenRun('generateVideo', second, { runId: 'run-2' }),
    ];
    const joined = buildTimeline({ target: 'film', runs });
    expect(seconds(joined)).toEqual({ until_reset: 490, nothing: 15 });
    // The new run alone has nothing of what the other did until then.
    expect(seconds(buildTimeline({ target: 'film', runs: runs.slice(1) }))).toEqual({
      until_reset: 500,
      nothing: 5,
    });
  });
});
