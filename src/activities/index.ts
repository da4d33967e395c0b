/**
 * Factory for the activities, for manually assembled workers. Needs the key and the stores. Workflow code never imports
 * this module.
 *
 * @module
 */
export { createMediaActivities, type MediaActivityDeps } from './create-media-activities';
export { accountRegistry, type Account, type AccountRegistry } from '../settings/accounts';
export { FAILURE } from './failures';
export { type SentCreate, type TaskRecord, type TaskRecords } from './paid-context';
export { createMediaClient } from '../service/create-media-client';
export { type MediaClient, type MediaClientOptions, type ClientTimeouts } from '../service/media-client';
export { accountName, normaliseBaseUrl } from '../service/endpoint';
export { campaignRows } from './campaign/settle-batch';
export { FileArtifactStore } from '../stores/artifacts/file-store';
export { type ArtifactStore, type StagedArtifact } from '../stores/artifacts/artifact-store';
export { createFileJournal } from '../stores/journal/file-journal';
export { type CreateJournal } from '../domain/journal';
export { type MetricKey, type MetricLabels, type Metrics } from '../domain/metrics';
export {
  createModelSource,
  type ModelSource,
  type ModelSourceOptions,
  type ModelsUnavailable,
  type ReadLocation,
} from '../settings/model-source';
export { type ConnectionFactory, type Connection, type ConnectionSettings } from '../service/connections';
export { type ModelLookup } from '../domain/model-config';
