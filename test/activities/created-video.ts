import { type CreatedVideo } from '../../src/domain/paid-call';
import { makeVideoTask } from '../domain/make-video-task';

/** What a create of this task was answered, as its sender recorded it. */
export function createdVideo(taskId: string): CreatedVideo {
  return {
    outcome: 'created',
    sendAttempt: 0,
    sent: true,
    account: 'a',
    estimate: null,
    status: 'queued',
    warnings: [],
    video: makeVideoTask({ taskId }),
  };
}
