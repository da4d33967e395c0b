/**
 * The Nexus service `media`, as its callers see it: names and types alone, small enough for any workflow bundle.
 * A worker serves it with `mediaNexusService` of `temporal-media/worker`, or with `MEDIA_NEXUS=1`.
 *
 * @module
 */
import { operation, service } from 'nexus-rpc';
import { type CampaignInput } from './domain/campaign/plan';
import { type CampaignResult } from './domain/campaign/campaign-state';
import { type ImageOutcome, type VideoOutcome } from './domain/outcome';
import {
  type AwaitVideoInput,
  type EditImageWorkflowInput,
  type GenerateImageWorkflowInput,
  type GenerateVideoInput,
} from './domain/workflow-inputs';

/**
 * Authorises one purchase: the same key never buys twice, whoever sends it and how often. Required over Nexus, because
 * nothing that an operation is given stays the same when its caller is reset. Make it from ids of the caller that last,
 * such as an order number, or `${workflowInfo().workflowId}/film`.
 */
interface WithCreationKey {
  readonly creationKey: string;
}

/** Input of the operation `generateVideo`: that of the workflow, with a creation key. */
export type MediaVideoInput = Omit<GenerateVideoInput, 'creationKey' | 'carried'> & WithCreationKey;
/** Input of the operation `awaitVideo`, which buys nothing and therefore needs no creation key. */
export type MediaAwaitInput = Omit<AwaitVideoInput, 'carried'>;
/** Input of the operation `generateImage`: that of the workflow, with a creation key. */
export type MediaImageInput = Omit<GenerateImageWorkflowInput, 'creationKey'> & WithCreationKey;
/** Input of the operation `editImage`: that of the workflow, with a creation key. */
export type MediaEditInput = Omit<EditImageWorkflowInput, 'creationKey'> & WithCreationKey;

/** A campaign and its id: the same id with the same manifest attaches, or goes on with the rows that are left. */
export type MediaCampaignInput = Omit<CampaignInput, 'previous' | 'carried'> & { readonly id: string };

/**
 * Every operation is a workflow run in the namespace of the media workers. Videos and images end with an outcome, as
 * their workflows do; a failed operation means that nothing could be started, or that its workflow was closed by hand.
 */
export const mediaService = service('media', {
  generateVideo: operation<MediaVideoInput, VideoOutcome>(),
  awaitVideo: operation<MediaAwaitInput, VideoOutcome>(),
  generateImage: operation<MediaImageInput, ImageOutcome>(),
  editImage: operation<MediaEditInput, ImageOutcome>(),
  campaign: operation<MediaCampaignInput, CampaignResult>(),
});
