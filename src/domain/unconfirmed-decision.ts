import { creationKeyCheck } from './creation-key';
import { type Money } from './money';
import { taskQueueCheck } from './names';
import { type CreateEvidence, type CreateVideoAnswer } from './paid-call';
import { type PaidRequest } from './request';
import {
  anyText,
  type Check,
  isoTime,
  oneOf,
  optional,
  orNull,
  type ShapeOf,
  type ValidationIssue,
} from './shape';
import { taskIdCheck } from './video-task';

/**
 * A person's decision about a paid call with an unknown outcome (failure model: The log).
 * - `adopt`: the call was accepted, and this is its task.
 * - `declareLost`: nothing was accepted. The call will not be sent again under this key.
 * - `resubmit`: send the call again. The first send may have been accepted, and may cost money too.
 */
export type UnconfirmedDecision = 'adopt' | 'declareLost' | 'resubmit';

/** Input of the `resolveUnconfirmed` workflow. */
export interface ResolveUnconfirmedInput {
  /** The id that the workflow was started with, or the key that the caller passed. */
  readonly creationKey: string;
  /**
   * The `sendId` from the evidence of the send that the decision is about. A decision never authorizes any other send,
   * no matter how often it is applied.
   * @minLength 1
   * @maxLength 200
   */
  readonly sendId: string;
  /** Final once it is recorded. */
  readonly decision: UnconfirmedDecision;
  /** The adopted task. Only with `adopt`. */
  readonly taskId?: string;
  /**
   * The person who decides. Stored in the journal.
   * @minLength 1
   * @maxLength 200
   */
  readonly by: string;
  /**
   * The reason for the decision. Stored in the journal. Must not contain prompts, keys or URLs.
   * @minLength 1
   * @maxLength 1000
   */
  readonly reason: string;
  /** Task queue of the workers that have the journal. @default this workflow's task queue */
  readonly taskQueue?: string;
}

/** The input's shape. {@link decisionIssue} checks the decision itself. */
export const RESOLVE_UNCONFIRMED_SHAPE = {
  creationKey: creationKeyCheck,
  sendId: true,
  decision: true,
  taskId: true,
  by: true,
  reason: true,
  taskQueue: optional(taskQueueCheck),
} satisfies ShapeOf<ResolveUnconfirmedInput>;

type Decision = Pick<ResolveUnconfirmedInput, 'sendId' | 'by' | 'reason'>;

/**
 * Arguments of the Updates that a person uses to settle the create of a running `generateVideo` workflow. `sendId` is
 * in the evidence that the `video_state` query returns. After a reset, the server reapplies the Updates. The send has
 * already been decided by then, so they authorize nothing more.
 */
export interface VideoUpdates {
  /** The create was accepted as this task, and the workflow waits for it. */
  readonly adopt: Decision & { readonly taskId: string };
  /** The create was not accepted, and the workflow ends with the outcome `rejected`. */
  readonly declareLost: Decision;
  /** The create is sent again, which may cost money a second time. */
  readonly resubmit: Decision;
}

/** A `sendId` that matches no send. With this value, the result only reports what happened to the call. */
export const NO_SEND = 'none';

/** Input of `media.resolveUnconfirmed`. */
export type ResolveUnconfirmedCall = Omit<ResolveUnconfirmedInput, 'taskQueue'>;

/** Why a decision was not applied. Public values. */
export type UnresolvedReason =
  /** `by`, `reason`, `decision` or the task id is missing or invalid. */
  | 'invalid_decision'
  /** No paid call under this key has an unknown outcome. */
  | 'nothing_unconfirmed'
  /** The journal already contains the call's outcome. */
  | 'already_known'
  /** The send was already decided, or the call now has another send with an unknown outcome. */
  | 'already_decided'
  /** The service does not know the task, or could not be reached. */
  | 'task_unknown'
  | 'service_unavailable'
  /** The journal already has this task under another key. */
  | 'task_of_another_key'
  /** An image call has no task to adopt. */
  | 'no_task_to_adopt'
  | 'account_not_configured'
  | 'no_journal';

/** A recorded decision, and the send that it is about. */
export type DecisionInForce = Pick<DecidedEntry, 'sendId' | 'sendAttempt' | 'decision' | 'by' | 'at'>;

/** Result of applying a decision. `answer` is the call's outcome, if known. */
export type ResolveUnconfirmedResult =
  | {
      readonly resolved: true;
      /** The recorded decision. */
      readonly decision: UnconfirmedDecision;
      /** The call that the decision is about. */
      readonly creationKey: string;
      /** Number of the send that the decision is about, from 0. */
      readonly sendAttempt: number;
      /** The resulting outcome; null after `resubmit`, because the next send determines it. */
      readonly answer: CreateVideoAnswer | null;
      /** One human-readable sentence. */
      readonly message: string;
    }
  | {
      readonly resolved: false;
      /** Why the decision was not applied. */
      readonly reason: UnresolvedReason;
      /** The call that the decision was meant for. */
      readonly creationKey: string;
      /** The outcome that the journal already contains; null if none. */
      readonly answer: CreateVideoAnswer | null;
      /** With `already_decided`: the existing decision about that send, if there is one. */
      readonly stands?: DecisionInForce;
      /** One human-readable sentence that says what to do instead. */
      readonly message: string;
    };

/** Returns the problem with a decision from untyped input, or undefined if the decision can be applied. */
export function decisionIssue(input: {
  readonly [Field in keyof ResolveUnconfirmedCall]?: unknown;
}): string | undefined {
  if (input.decision !== 'adopt' && input.decision !== 'declareLost' && input.decision !== 'resubmit')
    return 'decision must be adopt, declareLost or resubmit.';
  const issue =
    sendIdCheck(input.sendId, 'sendId') ??
    byCheck(input.by, 'by') ??
    reasonCheck(input.reason, 'reason') ??
    (input.decision === 'adopt' ? taskIdCheck(input.taskId, 'taskId') : undefined);
  return issue?.message;
}

export const sendIdCheck: Check<string> = (value, field) =>
  saying(value, field, 'which send the decision is about (the `sendId` in its evidence)', 200);
export const byCheck: Check<string> = (value, field) => saying(value, field, 'who decides', 200);
export const reasonCheck: Check<string> = (value, field) => saying(value, field, 'why', 1000);

function saying(value: unknown, field: string, what: string, most: number): ValidationIssue | undefined {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= most) return undefined;
  return {
    field,
    message: `${field} must say ${what}, in at most ${most.toLocaleString('en-US')} characters.`,
  };
}

/** Input of the `reviewJournal` workflow and the `media.reviewJournal` activity, which return a page of the journal. */
export interface ReviewJournalInput {
  /**
   * `unconfirmed`: calls with an unknown outcome and no decision. `created`: tasks that exist. `decided`: decisions
   * about calls with an unknown outcome.
   */
  readonly list: 'unconfirmed' | 'created' | 'decided';
  /** Limits the page to one creation key. */
  readonly creationKey?: string;
  /** `next` of the previous page. @default the first page */
  readonly after?: string | null;
  /** ISO 8601. Limits the page to calls sent at or after this time. */
  readonly since?: string;
  /** Task queue of the workers that have the journal. @default this workflow's task queue */
  readonly taskQueue?: string;
}

export const REVIEW_JOURNAL_SHAPE = {
  list: oneOf('unconfirmed', 'created', 'decided'),
  creationKey: optional(creationKeyCheck),
  after: optional(orNull(anyText)),
  since: optional(isoTime),
  taskQueue: optional(taskQueueCheck),
} satisfies ShapeOf<ReviewJournalInput>;

/** A paid call with an unknown outcome, or a paid image call whose results were lost. */
export interface UnconfirmedEntry {
  /** Identifies the call in decisions. */
  readonly creationKey: string;
  /** Index of the send with the unknown outcome, from 0. */
  readonly sendAttempt: number;
  /** The kind of call. An image call has no task to adopt. */
  readonly operation: PaidRequest['operation'];
  /** `in_flight`: its sender may still be running. */
  readonly state: 'in_flight' | 'unconfirmed' | 'results_lost';
  /** Facts for searching the service's records. */
  readonly evidence: CreateEvidence;
  /** The cost of sending it again; null means unknown, never free. */
  readonly estimate: Money | null;
  /** What was billed for the send, a sign that the service accepted it. Null without a bill. */
  readonly actual: Money | null;
  /** Null if the journal does not contain it. */
  readonly workflowId: string | null;
  /** Null if the journal does not contain it. */
  readonly runId: string | null;
  /**
   * Whether starting the same id again fetches the missing results without sending anything. Only with `results_lost`.
   */
  readonly fetchable: boolean;
}

/** A task that exists, with its creation key and workflow. */
export interface CreatedEntry {
  /** The id that the workflow was started with, or the key that the caller passed. */
  readonly creationKey: string;
  /** Number of the accepted send, from 0. */
  readonly sendAttempt: number;
  /** The task at the service. */
  readonly taskId: string;
  /** Credential name and digest of the base address. */
  readonly account: string;
  /** Public model id; null for a task that was adopted by its id. */
  readonly model: string | null;
  /** ISO 8601 */
  readonly createdAt: string | null;
  /** The workflow that created it; null for an activity that no workflow scheduled. */
  readonly workflowId: string | null;
  /** Run id of that workflow or activity. */
  readonly runId: string | null;
  /** Id of the activity that created it. Without a workflow, the caller chose this id. */
  readonly activityId: string;
}

/** A recorded decision about a paid call with an unknown outcome. */
export interface DecidedEntry {
  /** The call that the decision is about. */
  readonly creationKey: string;
  /** Number of the send that the decision is about, from 0. */
  readonly sendAttempt: number;
  /** The `sendId` from that send's evidence. */
  readonly sendId: string;
  /** The decision. */
  readonly decision: UnconfirmedDecision;
  /** The person who decided. */
  readonly by: string;
  /** The reason, in that person's words. */
  readonly reason: string;
  /** ISO 8601 */
  readonly at: string;
  /** The adopted task; null unless the decision is `adopt`. */
  readonly taskId: string | null;
}

/**
 * One page of a journal: calls with an unknown outcome, created videos or decisions for the creation keys that were
 * read.
 */
export interface ReviewJournalPage {
  /** Empty unless the input's `list` is `unconfirmed`. */
  readonly unconfirmed: readonly UnconfirmedEntry[];
  /** Empty unless the input's `list` is `created`. */
  readonly created: readonly CreatedEntry[];
  /** Empty unless the input's `list` is `decided`. */
  readonly decided: readonly DecidedEntry[];
  /** Number of creation keys read. */
  readonly scanned: number;
  /** Cursor of the next page; null after the last page. */
  readonly next: string | null;
}
