import { upsertMemo, workflowInfo } from '@temporalio/workflow';
import { type VideoOutcome } from '../../../src/domain';
import { type CampaignState } from '../../../src/domain/campaign/campaign-state';
import { type VideoState } from '../../../src/domain/video-state';
import { type GenerateVideoInput } from '../../../src/domain/workflow-inputs';
import {
  awaitVideo,
  type ChildProgress,
  executeVideo,
  generateVideo,
  resumeVideo,
  runCampaign,
  withProgress,
} from '../../../src/workflows';

export type HookKind = 'none' | 'idle' | 'memo' | 'throws' | 'rejects' | 'is no function';

/** Appends to the memo of this run: a continue-as-new keeps only that of the start. */
function publish(name: string, value: unknown): void {
  const had = (workflowInfo().memo?.[name] as readonly unknown[] | undefined) ?? [];
  upsertMemo({ [name]: [...had, value] });
}

const HOOKS: { readonly [kind in Exclude<HookKind, 'none'>]: unknown } = {
  idle: () => undefined,
  memo: (state: ChildProgress) => publish('progress', state),
  throws: () => {
    throw new TypeError('a hook that throws');
  },
  rejects: async () => {
    await Promise.resolve();
    throw new Error('a hook that rejects');
  },
  'is no function': { phase: 'done' },
};

/** Buys one video, and publishes what it knows of it while it runs. */
export async function publishingBuyer(input: GenerateVideoInput, kind: HookKind): Promise<VideoOutcome> {
  const { taskQueue } = workflowInfo();
  const hook = kind === 'none' ? {} : { onProgress: HOOKS[kind] as (state: ChildProgress) => void };
  const outcome = await executeVideo(input, { taskQueue, ...hook });
  return outcome.outcome === 'still_running' ? resumeVideo(outcome.video, { taskQueue, ...hook }) : outcome;
}

/** A hook that changes what it gets and then throws: the video must not notice. */
export const publishingVideo = withProgress(generateVideo, (state) => {
  publish('states', { ...state });
  (state as { phase: VideoState['phase'] }).phase = 'done';
  if (state.video !== null) (state.video as { taskId: string }).taskId = 'another';
  throw new Error('a hook that throws');
});

export const publishingWait = withProgress(awaitVideo, ({ phase }) => publish('phases', phase));

export const publishingCampaign = withProgress(runCampaign, (state: CampaignState) => {
  const { phase, counts, inFlight } = state;
  publish('states', { phase, counts, inFlight });
});
