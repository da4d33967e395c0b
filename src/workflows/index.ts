/**
 * Workflows, and helpers for your own workflows. For workflow bundles only: this module is loaded in the deterministic
 * sandbox and imports only the domain and @temporalio/workflow.
 *
 * @module
 */
export { generateVideo } from './generate-video';
export { awaitVideo } from './await-video';
export { artifactStore, findVideoTask, resolveUnconfirmed, reviewJournal } from './client-requests';
export { editImage, generateImage } from './image-call';
export {
  executeVideo,
  mediaActivities,
  orThrow,
  resumeVideo,
  withProgress,
  type ChildProgress,
  type ExecuteVideoOptions,
  type MediaCallDefaults,
  type MediaCalls,
} from './media-calls';
export { type ImageCallOptions } from '../domain/workflow-inputs';
export { PollLoop, type PollEnd, type PollLoopOptions } from './poll-loop';
export { watchVideos } from './watch-videos';
export { createOnce, type CreateOnceOptions, type CreateOnceResult } from './create-once';
export { videoStateQuery } from './video-progress';
export { type OnProgress, waitsQuery } from './handlers';
export { adoptUpdate, declareLostUpdate, resubmitUpdate } from './await-decision';
export { runCampaign, campaignStateQuery } from './campaign/run-campaign';
export { campaignBatch } from './campaign/campaign-batch';
export {
  adoptRowUpdate,
  cancelUpdate,
  declareRowLostUpdate,
  pauseUpdate,
  raiseBudgetUpdate,
  resumeUpdate,
  setConcurrencyUpdate,
  setPriorityUpdate,
  resumeRowsUpdate,
} from './campaign/campaign-updates';
export { type Watch, type WatchState } from '../domain/watch-state';
export { type WatchEnd, type WatchVerdict } from '../domain/end-of-wait';
export { type LastTick, type PollPace, type SlowPolling } from '../domain/poll-cadence';
