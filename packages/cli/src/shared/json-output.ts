import {
  type CampaignPlan,
  type ManifestIssue,
  type CampaignState,
  type Money,
  type VideoState,
} from 'temporal-media';

/**
 * What commands print with `-o json` and `-o jsonl`, except for the domain's types. `schema` publishes these types with
 * their comments (ADR 21).
 */

/** The one object that stdout holds with `-o json`. */
export interface Reply {
  readonly ok: boolean;
  /** The result of the command; for a paid command its outcome with `workflowId` and `files`. */
  readonly data?: object;
  readonly error?: FailureReply;
}

/** Why a command failed. */
export interface FailureReply {
  /** An error type from docs/errors.md. */
  readonly type: string;
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
}

/** A workflow that was started or attached to. */
export interface StartedWorkflow {
  readonly workflowId: string;
  readonly runId: string;
  /** False when it was attached to. */
  readonly isNew: boolean;
  /** Link into the web UI. */
  readonly url?: string;
}

/** JSON data about a workflow that the command stopped waiting for. It has no outcome yet. */
export interface LeftRunning extends StartedWorkflow {
  /** The last state that was read; null if none was, and for image calls. */
  readonly state: VideoState | null;
}

/** A plan that is only displayed, without the artifacts that contain its pages and issues. */
export type ShownPlan = Omit<CampaignPlan, 'index' | 'issuesFile'>;

/** Where a command's model configuration comes from. */
export interface ModelsOrigin {
  /** `environment`: MEDIA_MODELS. `dev`: the sandbox of the `dev` that runs on this data directory. */
  readonly origin: 'environment' | 'dev' | 'none';
  /** The credential that the configuration applies to: the one that was named, else MEDIA_CREDENTIAL. */
  readonly account: string;
  /** A path or an address without user-info and query; null without a configuration. */
  readonly location: string | null;
  /** First 12 hex digits of the SHA-256 of the document; null without one. */
  readonly fingerprint: string | null;
  /** How a model without an entry is treated. */
  readonly unknownModels: 'allow' | 'refuse';
}

/** `data` for a campaign's dry run. */
export interface CampaignEstimate {
  readonly dryRun: true;
  readonly plan: ShownPlan;
  /** The most that it may cost with all retries, never more than the budget; null means unknown. */
  readonly most: Money | null;
  /** The model configuration that the rows were validated against. */
  readonly source: ModelsOrigin;
}

interface Line<Type extends string> {
  readonly v: 1;
  readonly type: Type;
  /** ISO 8601 time. */
  readonly at: string;
}

/** A workflow was started or attached to. */
export interface StartedLine extends Line<'started'>, StartedWorkflow {}

/** `watch` has found the workflow. */
export interface WatchingLine extends Line<'watching'> {
  readonly workflowId: string;
  readonly runId?: string;
}

/** A video workflow has a new state. */
export interface StateLine extends Line<'state'> {
  readonly workflowId: string;
  readonly state: VideoState;
}

/** A campaign has a new state. */
export interface CampaignLine extends Line<'campaign'> {
  readonly workflowId: string;
  readonly state: CampaignState;
}

/** A row of a manifest is not valid. */
export interface IssueLine extends Line<'issue'>, ManifestIssue {}

/** `doctor` has finished a check. */
export interface CheckLine extends Line<'check'> {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  readonly remedy?: string;
  readonly errorType?: string;
  readonly dependsOn?: string;
  /** The same for each account of the worker; only for the check `service`. */
  readonly accounts?: readonly AccountCheck[];
}

/** What a check found about one account. */
export interface AccountCheck {
  /** Credential and digest of the base address. */
  readonly account: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  readonly remedy?: string;
}

/** The answer, always the last line. */
export interface ResultLine extends Line<'result'>, Reply {}

/** One line on stdout with `-o jsonl`: events as they occur, `result` last. */
export type OutputLine =
  | StartedLine
  | WatchingLine
  | StateLine
  | CampaignLine
  | IssueLine
  | CheckLine
  | ResultLine;

/** The fields that a command adds to a line of this type. */
export type FieldsOf<Type extends OutputLine['type']> = Omit<
  Extract<OutputLine, { readonly type: Type }>,
  keyof Line<Type>
>;
