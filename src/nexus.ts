/**
 * Defines the `media` Nexus service for callers. Contains only names and types, so it is small enough for any workflow
 * bundle. A worker serves the service with `mediaNexusService` from `temporal-media/worker`, or with `MEDIA_NEXUS=1`.
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
 * Authorizes one purchase: the same key never buys twice, no matter who sends it or how often. Nexus operations require
 * this key, because everything else that an operation receives changes when its caller is reset. Derive the key from
 * permanent data of the caller, such as an order number or `${workflowInfo().workflowId}/film`.
 */
interface WithCreationKey {
  readonly creationKey: string;
}

/** Input of the `generateVideo` operation: the workflow's input plus a creation key. */
export type MediaVideoInput = Omit<GenerateVideoInput, 'creationKey' | 'carried'> & WithCreationKey;
/** Input of the `awaitVideo` operation, which buys nothing and therefore does not need a creation key. */
export type MediaAwaitInput = Omit<AwaitVideoInput, 'carried'>;
/** Input of the `generateImage` operation: the workflow's input plus a creation key. */
export type MediaImageInput = Omit<GenerateImageWorkflowInput, 'creationKey'> & WithCreationKey;
/** Input of the `editImage` operation: the workflow's input plus a creation key. */
export type MediaEditInput = Omit<EditImageWorkflowInput, 'creationKey'> & WithCreationKey;

/**
 * A campaign and its ID. Starting a campaign with the same ID and the same manifest attaches to it or continues with
 * its remaining rows.
 */
export type MediaCampaignInput = Omit<CampaignInput, 'previous' | 'carried'> & { readonly id: string };

/**
 * Every operation runs a workflow in the media workers' namespace. Video and image operations return an outcome, as
 * their workflows do. An operation fails only if its workflow could not be started or was closed externally.
 */
export const mediaService = service('media', {
  generateVideo: operation<MediaVideoInput, VideoOutcome>(),
  awaitVideo: operation<MediaAwaitInput, VideoOutcome>(),
  generateImage: operation<MediaImageInput, ImageOutcome>(),
  editImage: operation<MediaEditInput, ImageOutcome>(),
  campaign: operation<MediaCampaignInput, CampaignResult>(),
});
