import { DEFAULT_POLLING, type PollingProfile, type VideoTask } from '../../src/domain/video-task';

/** Kept facts of a task, for tests that need one of any kind. */
export function makeVideoTask(changes: Partial<VideoTask> = {}): VideoTask {
  return {
    taskId: 'task-1',
    model: 'video-1',
    durationSeconds: 8,
    resolution: '720p',
    referenceMode: 'none',
    account: 'default@00000000',
    polling: DEFAULT_POLLING,
    createdAt: '2026-01-01T00:00:00.000Z',
    source: 'create_reply',
    ...changes,
  };
}

/** The three families of the contract's section 8, in seconds. */
export const FAMILIES: { readonly [name: string]: PollingProfile } = {
  general: { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 },
  third: { minSeconds: 9, maxSeconds: 11, firstPollSeconds: 10 },
  slow: { minSeconds: 10, maxSeconds: 15, firstPollSeconds: 12 },
};
