/**
 * For tests, demos and development: outcomes and activities for workflow tests, a real Temporal server, and conformance
 * checks for your own store. Not for production workers. The service itself is `@temporal-media/sandbox`.
 *
 * @module
 */
export { artifactStoreConformance, type ArtifactStoreUnderTest } from './conformance/artifact-store';
export { type ConformanceCheck } from './conformance/conformance-check';
export {
  cancelledImage,
  completedImage,
  imageResultsLost,
  rejectedImage,
  unconfirmedImage,
} from './mock-media/outcomes';
export { artifactRef, type Changes, videoTask } from './mock-media/outcomes';
export {
  mockMediaActivities,
  type MockMediaActivities,
  type MockMediaOptions,
} from './mock-media/mock-activities';
export { type AskedImage, type AskedVideo } from './mock-media/mock-names';
export {
  cancelledVideo,
  completedVideo,
  contentUnavailable,
  failedVideo,
  rejectedVideo,
  stillRunningVideo,
  taskUnknown,
  unconfirmedVideo,
} from './mock-media/outcomes';
export { createJournalConformance } from './conformance/create-journal';
export { recordStoreConformance } from './conformance/record-store';
export {
  resolveTemporalServer,
  startTemporalServer,
  TemporalServerNotFoundError,
  type RunningTemporalServer,
  type StartTemporalServerOptions,
  type TemporalServerSource,
  type ResolveTemporalServerOptions,
  type ProgressListener,
  type SearchAttributeTypeName,
  type ServerConnectionOptions,
  type ServerExit,
  type FailedStep,
  type AddressSource,
  type ExecutableSource,
  type ExecutableFinder,
} from './temporal-server';
