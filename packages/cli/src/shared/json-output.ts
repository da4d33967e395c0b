import {
  type CampaignPlan,
  type ManifestIssue,
  type CampaignState,
  type Money,
  type VideoState,
} from 'temporal-media';
import { type RunAs } from 'temporal-media/client';

/**
 * Types of the `-o json` and `-o jsonl` output, except the domain's types. `schema` publishes these types with their
 * comments (ADR 21).
 */

/** The object on stdout with `-o json`. */
export interface Reply {
  readonly ok: boolean;
  /** The command's result. For a paid command, its outcome with `workflowId` and `files`. */
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

/** A workflow, or an activity without one, that was started or attached to. */
export interface StartedWorkflow {
  readonly as: RunAs;
  /** Id of the workflow or of the activity. */
  readonly workflowId: string;
  readonly runId: string;
  /** False if the command attached to an existing workflow. */
  readonly isNew: boolean;
  /** Web UI link. */
  readonly url?: string;
}

/** Data about a workflow that the command stopped waiting for before it had an outcome. */
export interface LeftRunning extends StartedWorkflow {
  /** The last known state. Null if unknown, and for image calls. */
  readonly state: VideoState | null;
}

/** A plan for display only, without the artifacts that contain its pages and issues. */
export type ShownPlan = Omit<CampaignPlan, 'index' | 'issuesFile'>;

/** The source of a command's model configuration. */
export interface ModelsOrigin {
  /** `environment`: MEDIA_MODELS. `dev`: the sandbox of a running `dev` with this data directory. */
  readonly origin: 'environment' | 'dev' | 'none';
  /** The credential that the configuration applies to: the requested one, or MEDIA_CREDENTIAL. */
  readonly account: string;
  /** A path, or a URL without user info and query. Null without a configuration. */
  readonly location: string | null;
  /** First 12 hex digits of the document's SHA-256. Null without a document. */
  readonly fingerprint: string | null;
  /** How a model without an entry is treated. */
  readonly unknownModels: 'allow' | 'refuse';
}

/** The `data` that a campaign's dry run returns. */
export interface CampaignEstimate {
  readonly dryRun: true;
  readonly plan: ShownPlan;
  /** Maximum cost including retries, capped at the budget. Null means unknown. */
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

/** `watch` has found the workflow, or the activity without one. */
export interface WatchingLine
  extends Line<'watching'>, Pick<StartedWorkflow, 'as' | 'workflowId' | 'runId'> {}

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

/** A manifest row is invalid. */
export interface IssueLine extends Line<'issue'>, ManifestIssue {}

/** `doctor` has finished a check. */
export interface CheckLine extends Line<'check'> {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  readonly remedy?: string;
  readonly errorType?: string;
  readonly dependsOn?: string;
  /** The same for each of the worker's accounts. Only for the `service` check. */
  readonly accounts?: readonly AccountCheck[];
}

/** A check's finding about one account. */
export interface AccountCheck {
  /** Credential and base URL digest. */
  readonly account: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  readonly remedy?: string;
}

/** The command's answer, always on the last line. */
export interface ResultLine extends Line<'result'>, Reply {}

/** A line on stdout with `-o jsonl`. Events are printed as they occur, and `result` comes last. */
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
