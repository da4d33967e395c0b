'use strict';
const answers = require('./answers');
const { after, fails, hangs, silent } = require('./scripted-activities');
const { scriptedCase: scripted } = require('./scripted-case');

const { created, running, completedRecord, downloaded, unchanged, unconfirmed, pollError } = answers;
const create = (...list) => ({ 'media.createVideo': list });
const poll = (...list) => ({ 'media.pollVideos': list });
const download = (...list) => ({ 'media.downloadVideo': list });
/** The remaining answers for a video that completes. */
const goesWell = { ...poll(running, completedRecord), ...download(downloaded) };

const creates = [
  scripted('generateVideo.completed-after-lost-worker', 'completed', (name) => ({
    ...create(silent),
    'media.reconcileCreate': [created(name, { sent: false })],
    ...goesWell,
  })),
  scripted('generateVideo.unconfirmed-after-lost-worker', 'unconfirmed', () => ({
    ...create(silent),
    'media.reconcileCreate': [unconfirmed('no_outcome_recorded')],
  })),
  scripted('generateVideo.unconfirmed-without-journal', 'unconfirmed', () => ({
    ...create(fails),
    'media.reconcileCreate': [fails],
  })),
  scripted('generateVideo.completed-after-pending', 'completed', (name) => ({
    ...create({ ...created(name), outcome: 'pending', sent: false }),
    'media.reconcileCreate': [created(name, { sent: false })],
    ...goesWell,
  })),
  scripted('generateVideo.completed-after-fence', 'completed', (name) => ({
    ...create(silent, answers.inItsSend(created(name))),
    'media.reconcileCreate': [answers.notSent({ cause: 'fenced', sendAttemptUsed: true })],
    ...goesWell,
  })),
  scripted('generateVideo.completed-after-refusals', 'completed', (name) => ({
    ...create(answers.refusedForNow(2000), answers.refusedForNow(null), answers.inItsSend(created(name))),
    ...goesWell,
  })),
  scripted('generateVideo.rejected-retry-later', 'rejected', () => create(answers.refusedForNow(null))),
  scripted('generateVideo.rejected-retry-after-too-long', 'rejected', () =>
    create(answers.refusedForNow(3_600_000)),
  ),
  scripted('generateVideo.rejected-not-sent', 'rejected', () => create(answers.notSent({ permanent: true }))),
  scripted('generateVideo.rejected-start-limit', 'rejected', () => create(answers.notSent({})), {
    input: { startLimit: '4s' },
  }),
  scripted('generateVideo.rejected-unreachable', 'rejected', () =>
    create(answers.notSent({ cause: 'connection_refused', sendAttemptUsed: true })),
  ),
  scripted('generateVideo.rejected-no-worker', 'rejected', () => ({}), {
    input: { startLimit: '1 minute', queues: { create: 'golden-nobody' } },
  }),
  scripted(
    'generateVideo.cancelled-before-creation',
    'cancelled',
    () => create(answers.refusedForNow(600_000)),
    {
      act: async (handle, { untilEvent }) => {
        await untilEvent(handle, 'timerStartedEventAttributes', 2);
        await handle.cancel();
      },
    },
  ),
  // Its own create is lost before it can compare, the record belongs to another run, and the workflow is then canceled.
  scripted(
    'generateVideo.cancelled-recorded-elsewhere',
    'cancelled',
    (name) => ({
      ...create(fails, created(name, { sent: false })),
      'media.reconcileCreate': [after(2500, answers.notSent({ cause: 'recorded_by_another_run' }))],
    }),
    {
      act: async (handle, { untilEvent }) => {
        await untilEvent(handle, 'activityTaskScheduledEventAttributes', 2);
        await handle.cancel();
      },
    },
  ),
  // Every timer and every activity of a video, with the summaries that the UI shows.
  scripted(
    'generateVideo.completed-with-summaries',
    'completed',
    (name) => ({
      ...create(answers.refusedForNow(1500), answers.inItsSend(created(name))),
      ...goesWell,
    }),
    { start: { workflowExecutionTimeout: '10 minutes' } },
  ),
  scripted(
    'generateVideo.cancelled-during-creation',
    'cancelled',
    (name) => create(after(2500, created(name))),
    {
      act: async (handle, { untilEvent }) => {
        await untilEvent(handle, 'activityTaskScheduledEventAttributes');
        await handle.cancel();
      },
    },
  ),
];

const watches = [
  scripted('generateVideo.completed-at-creation', 'completed', (name) => ({
    ...create(created(name, { status: 'completed' })),
    ...poll(completedRecord),
    ...download(downloaded),
  })),
  scripted('generateVideo.completed-unchanged-ticks', 'completed', (name) => ({
    ...create(created(name)),
    ...poll(running, unchanged, unchanged, completedRecord),
    ...download(downloaded),
  })),
  scripted('generateVideo.completed-after-retry-after', 'completed', (name) => ({
    ...create(created(name)),
    ...poll(
      pollError('rate_limited', { httpStatus: 429, retryAfterMs: 7000 }),
      pollError('unavailable', { httpStatus: 503 }),
      completedRecord,
    ),
    ...download(downloaded),
  })),
  scripted('generateVideo.completed-after-missed-tick', 'completed', (name) => ({
    ...create(created(name)),
    ...poll(fails, running, completedRecord),
    ...download(downloaded),
  })),
  scripted(
    'generateVideo.completed-slow-polling',
    'completed',
    (name) => ({
      ...create(created(name)),
      ...poll(running, unchanged, completedRecord),
      ...download(downloaded),
    }),
    { input: { slowPolling: { after: '2s', interval: '5s' } } },
  ),
  scripted('generateVideo.failed-unknown', 'failed', (name) => ({
    ...create(created(name)),
    ...poll(answers.record('failed', 'failed')),
  })),
  scripted(
    'generateVideo.still-running-retry-after',
    'still_running',
    (name) => ({
      ...create(created(name)),
      ...poll(running, pollError('rate_limited', { httpStatus: 429, retryAfterMs: 3_600_000 })),
    }),
    { input: { waitFor: '8s' } },
  ),
  scripted(
    'generateVideo.still-running-worker-unavailable',
    'still_running',
    (name) => ({ ...create(created(name)), ...poll(fails) }),
    { input: { waitFor: '4s' } },
  ),
  scripted(
    'generateVideo.cancelled-while-watching',
    'cancelled',
    (name) => ({ ...create(created(name)), ...poll(running) }),
    {
      act: async (handle, { untilEvent }) => {
        await untilEvent(handle, 'timerStartedEventAttributes', 3);
        await handle.cancel();
      },
    },
  ),
  scripted(
    'generateVideo.cancelled-in-a-tick',
    'cancelled',
    (name) => ({ ...create(created(name)), ...poll(after(2000, running)) }),
    {
      act: async (handle, { untilEvent }) => {
        await untilEvent(handle, 'activityTaskScheduledEventAttributes', 2);
        await handle.cancel();
      },
    },
  ),
];

const downloads = [
  scripted('generateVideo.content-unavailable-not-ready', 'content_unavailable', (name) => ({
    ...create(created(name)),
    ...poll(completedRecord),
    ...download(answers.unavailable('not_ready')),
  })),
  scripted('generateVideo.still-running-download-interrupted', 'still_running', (name) => ({
    ...create(created(name)),
    ...poll(completedRecord),
    ...download(fails),
  })),
  scripted(
    'generateVideo.cancelled-while-downloading',
    'cancelled',
    (name) => ({ ...create(created(name)), ...poll(completedRecord), ...download(hangs) }),
    {
      act: async (handle, { untilEvent }) => {
        await untilEvent(handle, 'activityTaskScheduledEventAttributes', 3);
        await handle.cancel();
      },
    },
  ),
  scripted(
    'generateVideo.still-running-download-cut',
    'still_running',
    (name) => ({ ...create(created(name)), ...poll(completedRecord), ...download(hangs) }),
    { start: { workflowExecutionTimeout: '34s' } },
  ),
];

module.exports = { scriptedVideoCases: [...creates, ...watches, ...downloads] };
