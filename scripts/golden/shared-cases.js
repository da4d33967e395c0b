'use strict';
// Videos with shared polling, and the watchers that poll them.
const answers = require('./answers');
const { REQUEST, scriptedCase, untilEvent } = require('./scripted-case');
const { fails } = require('./scripted-activities');
const { QUEUES } = require('./stage');

const TASK_SCHEDULED = 'activityTaskScheduledEventAttributes';

/** A distinct pace gives videos their own watcher. No case runs long enough to slow down. */
const apart = (hours) => ({ slowPolling: { after: `${hours} hours`, interval: '1 minute' } });

/** Starts a video, does something once its watcher has polled it, and records both. */
function shared(name, expect, { prompt, act, watcherStem, ...input }) {
  return {
    name,
    expect,
    async run({ plain }) {
      const handle = await plain.client.workflow.start('generateVideo', {
        taskQueue: QUEUES.real,
        workflowId: name,
        args: [{ request: { ...REQUEST, prompt }, creationKey: name, polling: 'shared', ...input }],
      });
      await untilEvent(handle, TASK_SCHEDULED, 2);
      const { watcher: watcherId } = await handle.query('video_state');
      const watcher = plain.client.workflow.getHandle(watcherId);
      await untilEvent(watcher, TASK_SCHEDULED);
      // The current run: a later run has the same workflow id.
      const { runId } = await watcher.describe();
      await act?.({ handle, watcher, client: plain.client });
      await handle.result();
      const executions = [{ handle, server: plain, stem: name }];
      if (watcherStem === undefined) return executions;
      const run = plain.client.workflow.getHandle(watcherId, runId);
      return [
        ...executions,
        { handle: run, firstRunId: runId, server: plain, stem: watcherStem, expect: null },
      ];
    },
  };
}

const sharedCases = [
  shared('generateVideo.completed-shared', 'completed', {
    prompt: '[queue:1s] [run:9s] a kite of many',
    ...apart(1),
    watcherStem: 'watchVideos.completed',
  }),
  shared('generateVideo.delivered-by-its-watcher', 'completed', {
    prompt: '[queue:1s] [run:7s] a kite that is brought',
    ...apart(5),
    watcherStem: 'watchVideos.delivered',
  }),
  shared('generateVideo.still-running-shared', 'still_running', {
    prompt: '[run:60s] a slow river of many',
    waitFor: '6s',
    ...apart(2),
    watcherStem: 'watchVideos.still-running',
  }),
  shared('generateVideo.cancelled-while-shared', 'cancelled', {
    prompt: '[run:60s] a kite that is let go',
    ...apart(3),
    act: ({ handle }) => handle.cancel(),
    watcherStem: 'watchVideos.left',
  }),
  shared('generateVideo.nudged-while-shared', 'completed', {
    prompt: '[queue:0s] [run:6s] a kite that is pulled',
    slowPolling: { after: 0, interval: '20s' },
    act: ({ handle }) => handle.signal('nudge'),
    watcherStem: 'watchVideos.nudged',
  }),
  scriptedCase(
    'generateVideo.completed-after-shared',
    'completed',
    (name) => ({
      'media.createVideo': [answers.created(name)],
      'media.watchVideo': [fails],
      'media.pollVideos': [answers.running, answers.completedRecord],
      'media.downloadVideo': [answers.downloaded],
    }),
    { input: { polling: 'shared' } },
  ),
  scriptedCase(
    'generateVideo.completed-after-full-watchers',
    'completed',
    (name) => ({
      'media.createVideo': [answers.created(name)],
      'media.watchVideo': [{ kind: 'full' }, { kind: 'full' }],
      'media.pollVideos': [answers.running, answers.completedRecord],
      'media.downloadVideo': [answers.downloaded],
    }),
    { input: { polling: 'shared' } },
  ),
  scriptedCase(
    'generateVideo.completed-after-failed-delivery',
    'completed',
    (name) => ({
      'media.createVideo': [answers.created(name)],
      'media.watchVideo': [(_activities, { state }) => ({ ...watched(state), tried: FAILED_TRY })],
      'media.downloadVideo': [answers.downloaded],
    }),
    { input: { polling: 'shared' } },
  ),
  {
    name: 'watchVideos.continued',
    expect: null,
    async run({ plain }) {
      const name = 'generateVideo.for-another-run';
      const handle = await plain.client.workflow.start('generateVideo', {
        taskQueue: QUEUES.real,
        workflowId: name,
        args: [
          {
            request: { ...REQUEST, prompt: '[queue:0s] [run:14s] a kite' },
            creationKey: name,
            polling: 'shared',
            ...apart(4),
          },
        ],
      });
      await untilEvent(handle, TASK_SCHEDULED, 2);
      const { watcher: watcherId } = await handle.query('video_state');
      const watcher = plain.client.workflow.getHandle(watcherId);
      await untilEvent(watcher, TASK_SCHEDULED);
      const firstRunId = await continued(watcher, plain.client);
      await handle.result();
      return [{ handle: watcher, firstRunId, server: plain, stem: 'watchVideos.continued' }];
    },
  },
];

const FAILED_TRY = {
  problem: { kind: 'unavailable', message: 'The service is not available (HTTP 503).', httpStatus: 503 },
  lives: true,
};

/** A watcher's answer for a finished video. */
function watched(state) {
  const { record } = answers.completedRecord.answers[0];
  return {
    kind: 'verdict',
    verdict: { kind: 'completed', record },
    state: { ...state, lastStatus: 'completed' },
  };
}

/** Replaces the watcher's run by one that is full after a tick. @returns its run id */
async function continued(watcher, client) {
  const { input, watches } = await watcher.query('watch_snapshot');
  const { signaledRunId } = await client.workflow.signalWithStart('watchVideos', {
    taskQueue: QUEUES.real,
    workflowId: watcher.workflowId,
    args: [{ ...input, eventsPerRun: 16 }],
    signal: 'watch_join',
    signalArgs: [watches],
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
  return signaledRunId;
}

module.exports = { sharedCases };
