import {
  artifactRef,
  cancelledImage,
  cancelledVideo,
  completedImage,
  completedVideo,
  contentUnavailable,
  failedVideo,
  imageResultsLost,
  rejectedImage,
  rejectedVideo,
  stillRunningVideo,
  taskUnknown,
  unconfirmedImage,
  unconfirmedVideo,
  videoTask,
} from '../../../packages/testing/src';
import { type ImageOutcome, type VideoOutcome } from '../../../src/domain';
import { expectDocumented } from '../../cli/schemas/documented';

const other = { video: { taskId: 'task-9', resolution: null }, billing: { estimate: null, currency: null } };

/** For every outcome: the default, and one with changes. */
type Made<Outcome extends { readonly outcome: string }> = {
  readonly [Name in Outcome['outcome']]: readonly [Outcome, Outcome];
};

const VIDEOS: Made<VideoOutcome> = {
  completed: [completedVideo(), completedVideo({ ...other, artifact: { bytes: 7 }, warnings: ['w'] })],
  still_running: [stillRunningVideo(), stillRunningVideo({ ...other, progress: 99 })],
  failed: [failedVideo(), failedVideo({ ...other, error: { kind: 'moderation', code: 'unsafe' } })],
  content_unavailable: [contentUnavailable(), contentUnavailable({ ...other, reason: 'not_video' })],
  task_unknown: [taskUnknown(), taskUnknown({ ...other, watch: { polls: 9 } })],
  unconfirmed: [unconfirmedVideo(), unconfirmedVideo({ evidence: { httpStatus: 502 }, creationKey: 'k' })],
  rejected: [rejectedVideo(), rejectedVideo({ sends: 0, reason: 'creation_key_conflict' })],
  cancelled: [cancelledVideo(), cancelledVideo({ video: null })],
};

const IMAGES: Made<ImageOutcome> = {
  completed: [completedImage(), completedImage({ images: [artifactRef(), artifactRef()] })],
  results_lost: [imageResultsLost(), imageResultsLost({ fetchable: true, images: [artifactRef(), null] })],
  unconfirmed: [unconfirmedImage(), unconfirmedImage({ sendAttempt: 1 })],
  rejected: [rejectedImage(), rejectedImage({ reason: 'moderation', field: 'prompt' })],
  cancelled: [cancelledImage(), cancelledImage({ creationKey: null })],
};

describe('outcomes of videos', () => {
  test.each(Object.entries(VIDEOS))('%s is what its schema describes, also with changes', (name, made) => {
    for (const outcome of made) {
      expect(outcome.outcome).toBe(name);
      // As it comes out of a workflow.
      expectDocumented('video-outcome', JSON.parse(JSON.stringify(outcome)));
    }
  });

  test('a change of one field leaves the others; what follows from it follows', () => {
    const video = { ...videoTask(), taskId: 'task-9' };
    expect(completedVideo({ video: { taskId: 'task-9' } })).toMatchObject({
      ...completedVideo(),
      video,
      billing: { state: 'estimated' },
    });
    expect(completedVideo({ video: { model: 'm' } }).requested.model).toBe('m');
    expect(failedVideo({ error: { kind: 'capacity' } }).retryable).toBe(true);
    expect(failedVideo({ error: { kind: 'capacity' }, retryable: false }).retryable).toBe(false);
    const sha256 = 'b'.repeat(64);
    expect(completedVideo({ artifact: { sha256 } }).artifact.uri).toBe(`artifact:sha256/${sha256}`);
    expect(rejectedVideo({ sends: 0 })).not.toHaveProperty('httpStatus');
  });
});

describe('outcomes of image calls', () => {
  test.each(Object.entries(IMAGES))('%s is what its schema describes, also with changes', (name, made) => {
    for (const outcome of made) {
      expect(outcome.outcome).toBe(name);
      expectDocumented('image-outcome', JSON.parse(JSON.stringify(outcome)));
    }
  });
});
