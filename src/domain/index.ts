/**
 * The package's types, names and tables. Has no dependencies and can be imported anywhere, including workflow code.
 *
 * @module
 */
export {
  ACTIVITY,
  DEFAULT_CREDENTIAL,
  DEFAULT_TASK_QUEUE,
  mediaJournalScheduleId,
  QUERY,
  UPDATE,
  WORKFLOW,
} from './names';
export { type JsonValue } from './json';
export {
  artifactUri,
  referenceModeOf,
  type ArtifactRef,
  type MediaSource,
  type ReferenceKind,
  type VideoReference,
  type ImageEditRequest,
  type ImageGenerationRequest,
  type ImageResponseFormat,
  type PaidOperation,
  type PaidRequest,
  type VideoRequest,
} from './request';
export {
  DEFAULT_POLLING,
  type ErrorKind,
  type PollingMode,
  type PollingProfile,
  type TaskError,
  videoTaskById,
  type VideoTask,
} from './video-task';
export { type Billing, type Fairness, type LabelLimit, type Labels, type Money } from './money';
export { mayRetry } from './end-of-wait';
export {
  DEFAULT_CREATE_POLICY,
  type CreatePolicy,
  type ResolvedCreatePolicy,
  type IdempotencyPolicy,
} from './create-policy';
export { type CreateEvidence, type CreateVideoAnswer, type FullLimit } from './paid-call';
export { type ContentUnavailableReason } from './download';
export {
  type Cancelled,
  type CompletedImage,
  type CompletedVideo,
  type ContentUnavailable,
  type FailedVideo,
  type ImageOutcome,
  type ImageResultsLost,
  type Rejected,
  type RequestedFacts,
  type StillRunning,
  type TaskUnknown,
  type Unconfirmed,
  type VideoOutcome,
  type WatchFacts,
  type LastPollError,
} from './outcome';
export {
  type ArtifactStoreFacts,
  type FindVideoTaskInput,
  type FoundVideoTask,
  type MediaActivities,
  type ServiceView,
} from './activities';
export { type DurationInput, type ValidationIssue } from './shape';
export { type CallWait, type VideoState } from './video-state';
export {
  type AwaitVideoInput,
  type EditImageWorkflowInput,
  type GenerateImageWorkflowInput,
  type GenerateVideoInput,
  type MediaQueues,
  type WaitOptions,
} from './workflow-inputs';
export {
  type CreatedEntry,
  type DecidedEntry,
  type ResolveUnconfirmedInput,
  type ResolveUnconfirmedResult,
  type ReviewJournalInput,
  type ReviewJournalPage,
  type UnconfirmedDecision,
  type UnconfirmedEntry,
  type UnresolvedReason,
  type VideoUpdates,
} from './unconfirmed-decision';
export { validateRequest } from './validate-request';
export {
  type ImageModel,
  type ActualRule,
  type ModelConfiguration,
  type PriceRule,
  type ReferenceMapping,
  type VideoModel,
  type ModelEntry,
  type SpecificationPrice,
} from './model-config';
export { FAILURE_TABLE, failureRow, type FailureRow, type RejectReason } from './failure-table';
export {
  type CampaignInput,
  type CampaignPlan,
  type ManifestIssue,
  type ManifestSource,
  type PlanRefusal,
  type RowSelection,
  type PlannedModel,
} from './campaign/plan';
export { type MoneyTotals, type ResultsRef, type RowCounts } from './campaign/results';
export { type CampaignRowResult, type LedgerLine, type RowOutcome } from './campaign/row';
export {
  type CampaignResult,
  type CampaignState,
  type CampaignUpdateResult,
  type CampaignUpdates,
  type BudgetState,
  type BatchView,
} from './campaign/campaign-state';
export { type ReportedFacts, type TaskPhase, type PollErrorClass } from './poll-answers';
