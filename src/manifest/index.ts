/**
 * Manifests of campaigns: reading, validating and planning them, and reading their results. For activities, the command
 * line and reports; does not depend on Temporal and sends nothing.
 *
 * @module
 */
export { MANIFEST_COLUMNS, type ManifestColumn, type ManifestOperation } from './columns';
export { contentOf } from './validate-rows';
export { ManifestHeaderError, ManifestUnreadableError, ModelsDownError } from './manifest-errors';
export { type ManifestRow } from './manifest-row';
export { type PlanSink } from './page-writer';
export { planManifest, type PlanManifestOptions, type PlanProgress } from './plan-manifest';
export { readManifest } from './read-manifest';
export { latestResults, readResults } from './results';
