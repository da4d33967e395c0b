'use strict';
// Cases with the real activities against the sandbox.
const { QUEUES } = require('./stage');
const { REQUEST } = require('./scripted-case');

const VIDEO = (prompt, more) => ({ request: { ...REQUEST, prompt, ...more } });
const IMAGE = (prompt, more) => ({ request: { model: 'image-2', prompt, size: '512x512', ...more } });

async function start(stage, workflowId, input, options = {}) {
  return stage.plain.client.workflow.start(workflowId.slice(0, workflowId.indexOf('.')), {
    taskQueue: QUEUES.real,
    workflowId,
    ...options,
    args: [{ creationKey: workflowId, ...input }],
  });
}

function real(name, expect, input, options = {}) {
  return {
    name,
    expect,
    async run(stage) {
      const args = typeof input === 'function' ? await input(stage) : input;
      return [{ handle: await start(stage, name, args, options.start), server: stage.plain, stem: name }];
    },
  };
}

/** Runs a workflow whose outcome is the input of a case. */
async function outcomeOf(stage, workflowId, input) {
  const handle = await start(stage, workflowId, input);
  return handle.result();
}

const videos = [
  real('generateVideo.completed', 'completed', VIDEO('[queue:0s] [run:0s] a kite')),
  real(
    'generateVideo.completed-with-progress',
    'completed',
    VIDEO('[queue:1s] [run:9s] a kite over the sea'),
  ),
  real('generateVideo.completed-own-key', 'completed', {
    ...VIDEO('[run:1s] a kite without a key'),
    creationKey: undefined,
  }),
  real('generateVideo.completed-with-references', 'completed', async ({ artifacts, plain }) => {
    const made = await outcomeOf({ artifacts, plain }, 'generateImage.for-references', IMAGE('a boat'));
    const references = made.images.map((artifact) => ({ kind: 'image', source: { artifact } }));
    return VIDEO('[run:1s] it sails', { model: 'motion-omni', durationSeconds: 3, references });
  }),
  real('generateVideo.still-running', 'still_running', {
    ...VIDEO('[run:60s] a slow river'),
    waitFor: '6s',
  }),
  real('generateVideo.failed-moderation', 'failed', VIDEO('[run:1s] [fail:moderation] a kite')),
  real('generateVideo.failed-capacity', 'failed', VIDEO('[run:1s] [fail:capacity] a kite')),
  real('generateVideo.unconfirmed', 'unconfirmed', VIDEO('[lost-reply] a lighthouse')),
  real('generateVideo.rejected-by-workflow', 'rejected', { ...VIDEO('a kite'), waitFor: 'soon' }),
  real('generateVideo.rejected-by-model', 'rejected', VIDEO('a kite', { durationSeconds: 3 })),
  real('generateVideo.rejected-by-service', 'rejected', VIDEO('[http:400] a kite')),
  real('generateVideo.completed-after-refusal', 'completed', VIDEO('[http:429:2] [run:1s] a kite')),
];

const awaits = [
  real('awaitVideo.completed', 'completed', async (stage) => {
    const { video } = await outcomeOf(stage, 'generateVideo.to-await', {
      ...VIDEO('[run:8s] a slow kite'),
      waitFor: '2s',
    });
    return { video, creationKey: undefined };
  }),
  real('awaitVideo.completed-by-task-id', 'completed', async (stage) => {
    const { video } = await outcomeOf(stage, 'generateVideo.to-find', {
      ...VIDEO('[run:5s] a kite to find'),
      waitFor: '1s',
    });
    return { video: { taskId: video.taskId }, creationKey: undefined };
  }),
  real('awaitVideo.still-running', 'still_running', async (stage) => {
    const { video } = await outcomeOf(stage, 'generateVideo.to-wait', {
      ...VIDEO('[run:60s] a slower kite'),
      waitFor: '1s',
    });
    return { video, waitFor: '5s', creationKey: undefined };
  }),
  real('findVideoTask.found', null, async (stage) => {
    const { video } = await outcomeOf(stage, 'generateVideo.to-look-up', {
      ...VIDEO('[run:60s] a kite to look up'),
      waitFor: '1s',
    });
    return { taskId: video.taskId, creationKey: undefined };
  }),
  real('artifactStore.named', null, { creationKey: undefined }),
  real('findVideoTask.unknown', null, { taskId: 'video_of_nobody', creationKey: undefined }),
];

const images = [
  real('generateImage.completed', 'completed', IMAGE('a boat in the fog')),
  real('generateImage.completed-two', 'completed', IMAGE('two boats', { n: 2, responseFormat: 'b64_json' })),
  real('generateImage.rejected', 'rejected', IMAGE('a boat', { size: '513x513' })),
  real('generateImage.unconfirmed', 'unconfirmed', IMAGE('[lost-reply] a lighthouse')),
  real('editImage.completed', 'completed', async (stage) => {
    const made = await outcomeOf(stage, 'generateImage.for-edit', IMAGE('two kites', { n: 2 }));
    return IMAGE('make them red', { images: made.images.map((artifact) => ({ artifact })) });
  }),
  real('editImage.rejected', 'rejected', IMAGE('nothing to edit', { images: [] })),
];

/** A user's workflow, and the child through which it buys. */
const callers = [
  {
    name: 'buyFilm.completed',
    expect: 'completed',
    async run(stage) {
      const handle = await start(stage, 'buyFilm.completed', {
        ...VIDEO('[run:1s] a kite of a parent'),
        creationKey: undefined,
      });
      await handle.result();
      const { events } = await handle.fetchHistory();
      const { workflowExecution } = events.find(
        (event) => event.childWorkflowExecutionStartedEventAttributes,
      ).childWorkflowExecutionStartedEventAttributes;
      const child = stage.plain.client.workflow.getHandle(
        workflowExecution.workflowId,
        workflowExecution.runId,
      );
      return [
        { handle, server: stage.plain, stem: 'buyFilm.completed' },
        {
          handle: child,
          firstRunId: workflowExecution.runId,
          server: stage.plain,
          stem: 'generateVideo.completed-as-child',
        },
      ];
    },
  },
  real('makePoster.completed', 'completed', {
    image: IMAGE('a poster').request,
    edit: { model: 'image-2', prompt: 'with a frame' },
    creationKey: undefined,
  }),
];

module.exports = { IMAGE, real, realCases: [...videos, ...awaits, ...images, ...callers] };
