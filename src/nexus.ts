/**
 * The Nexus service `media` for its callers: names and types alone, small enough for any workflow bundle. A worker
 * serves it with `mediaNexusService` of `temporal-media/worker`, or with `MEDIA_NEXUS=1`.
 *
 * @module
 */
import { operation, service } from 'nexus-rpc';
import { type CampaignResult } from './domain/campaign/campaign-state';
import { type CampaignInput } from './domain/campaign/plan';
import { type ImageOutcome, type VideoOutcome } from './domain/outcome';
import {
  type AwaitVideoInput,
  type EditImageWorkflowInput,
  type GenerateImageWorkflowInput,
  type GenerateVideoInput,
} from './domain/workflow-inputs';

/**
 * Authorizes one purchase: the same key never buys twice, whatever sends it and however often. Required over Nexus,
 * because an operation gets nothing that stays the same when its caller is reset. Derive it from lasting ids of the
 * caller, such as an order number, or `${workflowInfo().workflowId}/film`.
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

/** A campaign and its id: the same id with the same manifest attaches, or continues with the remaining rows. */
export type MediaCampaignInput = Omit<CampaignInput, 'previous' | 'carried'> & { readonly id: string };

/**
 * Every operation is a workflow run in the namespace of the media workers. Videos and images return an outcome, as
 * their workflows do. A failed operation means that nothing could be started, or that its workflow was closed by hand.
 */
export const mediaService = service('media', {
  generateVideo: operation<MediaVideoInput, VideoOutcome>(),
  awaitVideo: operation<MediaAwaitInput, VideoOutcome>(),
  generateImage: operation<MediaImageInput, ImageOutcome>(),
  editImage: operation<MediaEditInput, ImageOutcome>(),
  campaign: operation<MediaCampaignInput, CampaignResult>(),
});
