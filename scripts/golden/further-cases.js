'use strict';
// Cases for the other workflows with scripted activities, and for continue-as-new.
const answers = require('./answers');
const { fails, hangs, silent } = require('./scripted-activities');
const { scriptedCase: scripted } = require('./scripted-case');
const { QUEUES } = require('./stage');

const { created, running, unchanged, completedRecord, downloaded, pollError } = answers;

// Scripted activities have no watcher.
const known = (name) => ({ video: answers.video(name), polling: 'own' });
const byId = (name) => ({ video: { taskId: name }, polling: 'own' });
const finishes = { 'media.pollVideos': [running, completedRecord], 'media.downloadVideo': [downloaded] };

const awaits = [
  scripted(
    'awaitVideo.completed-without-journal',
    'completed',
    () => ({ 'media.findVideoTask': [fails], ...finishes }),
    { args: byId },
  ),
  scripted('awaitVideo.cancelled-while-looking-up', 'cancelled', () => ({ 'media.findVideoTask': [hangs] }), {
    args: byId,
    act: async (handle, { untilEvent }) => {
      await untilEvent(handle, 'activityTaskScheduledEventAttributes');
      await handle.cancel();
    },
  }),
  scripted(
    'awaitVideo.failed',
    'failed',
    () => ({
      'media.pollVideos': [
        answers.record('failed', 'failed', {
          error: { kind: 'capacity', code: 'ServerOverloaded', message: 'busy' },
        }),
      ],
    }),
    { args: known },
  ),
  scripted(
    'awaitVideo.task-unknown',
    'task_unknown',
    () => ({ 'media.pollVideos': [pollError('not_found', { httpStatus: 404 })] }),
    {
      args: (name) => ({
        video: {
          ...answers.video(name, { minSeconds: 20, maxSeconds: 25, firstPollSeconds: 1 }),
          source: 'unknown',
        },
        polling: 'own',
      }),
    },
  ),
  scripted(
    'awaitVideo.content-unavailable',
    'content_unavailable',
    () => ({
      'media.pollVideos': [completedRecord],
      'media.downloadVideo': [answers.unavailable('expired')],
    }),
    { args: known },
  ),
  scripted('awaitVideo.cancelled-while-watching', 'cancelled', () => ({ 'media.pollVideos': [running] }), {
    args: known,
    act: async (handle, { untilEvent }) => {
      await untilEvent(handle, 'timerStartedEventAttributes');
      await handle.cancel();
    },
  }),
];

const imageInput = { request: { model: 'image-2', prompt: 'a paper boat', size: '512x512' } };
const editInput = {
  request: { ...imageInput.request, images: [{ artifact: answers.artifact('image/png') }] },
};
const lost = (name) => ({
  outcome: 'results_lost',
  creationKey: name,
  images: [null],
  created: 1_767_225_600,
  reason: 'fetch_failed',
  message: 'The results could not be fetched.',
  billing: { estimate: 40_000, currency: 'USD', state: 'needs_review' },
});
/** Canceled before any worker has it: the first workflow task sees the cancellation. */
const cancelledEarly = (taskQueue) => ({
  taskQueue,
  act: async (handle, { startWorker }) => {
    await handle.cancel();
    await startWorker(taskQueue);
  },
});

const images = [
  scripted(
    'generateImage.results-lost',
    'results_lost',
    (name) => ({ 'media.generateImage': [lost(name)] }),
    {
      input: imageInput,
    },
  ),
  scripted(
    'generateImage.unconfirmed-after-lost-workers',
    'unconfirmed',
    () => ({ 'media.generateImage': [silent] }),
    {
      input: imageInput,
    },
  ),
  scripted(
    'generateImage.unconfirmed-after-failure',
    'unconfirmed',
    () => ({ 'media.generateImage': [fails] }),
    {
      input: imageInput,
    },
  ),
  scripted('generateImage.rejected-no-worker', 'rejected', () => ({}), {
    input: { ...imageInput, startLimit: '2s', queues: { image: QUEUES.nobody } },
  }),
  scripted('generateImage.cancelled', 'cancelled', () => ({}), {
    input: imageInput,
    ...cancelledEarly(`${QUEUES.late}-image`),
  }),
  scripted('editImage.results-lost', 'results_lost', (name) => ({ 'media.editImage': [lost(name)] }), {
    input: editInput,
  }),
  scripted('editImage.unconfirmed-after-failure', 'unconfirmed', () => ({ 'media.editImage': [fails] }), {
    input: editInput,
  }),
  scripted('editImage.cancelled', 'cancelled', () => ({}), {
    input: editInput,
    ...cancelledEarly(`${QUEUES.late}-edit`),
  }),
];

const continued = [
  scripted(
    'generateVideo.continued-creating',
    'completed',
    (name) => ({
      'media.createVideo': [
        answers.refusedForNow(1500),
        answers.refusedForNow(4000),
        answers.refusedForNow(1500),
        answers.inItsSend(created(name)),
      ],
      ...finishes,
    }),
    { continuing: true },
  ),
  scripted(
    'generateVideo.continued-watching',
    'completed',
    (name) => ({
      'media.createVideo': [created(name)],
      'media.pollVideos': [running, unchanged, unchanged, unchanged, unchanged, completedRecord],
      'media.downloadVideo': [downloaded],
    }),
    { continuing: true },
  ),
  scripted(
    'generateVideo.continued-in-retry-after',
    'completed',
    (name) => ({
      'media.createVideo': [created(name)],
      'media.pollVideos': [
        running,
        pollError('rate_limited', { httpStatus: 429, retryAfterMs: 9000 }),
        unchanged,
        completedRecord,
      ],
      'media.downloadVideo': [downloaded],
    }),
    { continuing: true },
  ),
  scripted('awaitVideo.continued', 'still_running', () => ({ 'media.pollVideos': [running, unchanged] }), {
    continuing: true,
    args: (name) => ({ ...known(name), waitFor: '14s' }),
  }),
];

module.exports = { furtherCases: [...awaits, ...images, ...continued] };
