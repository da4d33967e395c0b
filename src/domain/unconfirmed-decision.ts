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
 * - `declareLost`: nothing was accepted. The call is not sent again under this key.
 * - `resubmit`: send the call again. The first send may have been accepted, and may cost money too.
 */
export type UnconfirmedDecision = 'adopt' | 'declareLost' | 'resubmit';

/** Input of the workflow `resolveUnconfirmed`. */
export interface ResolveUnconfirmedInput {
  /** The id that the workflow was started with, or the caller's own key. */
  readonly creationKey: string;
  /**
   * The send that the decision is about, as named in its evidence. A decision never authorizes any other send, no
   * matter how often it is applied.
   * @minLength 1
   * @maxLength 200
   */
  readonly sendId: string;
  /** Final once it is recorded. */
  readonly decision: UnconfirmedDecision;
  /** With `adopt` only. */
  readonly taskId?: string;
  /**
   * Who decides. Stored in the journal.
   * @minLength 1
   * @maxLength 200
   */
  readonly by: string;
  /**
   * Why. Stored in the journal. Must not contain a prompt, key or address.
   * @minLength 1
   * @maxLength 1000
   */
  readonly reason: string;
  /** Task queue of the workers that have the journal. @default that of this workflow */
  readonly taskQueue?: string;
}

/** The decision itself is checked by {@link decisionIssue}. */
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
 * Arguments of the Updates with which a person decides about a running `generateVideo` workflow's create. `sendId` is
 * in the evidence that the query `video_state` returns. After a reset, the server applies Updates again. By then their
 * send has been decided, so nothing more is authorized.
 */
export interface VideoUpdates {
  /** The create was accepted as this task, and the workflow waits for it. */
  readonly adopt: Decision & { readonly taskId: string };
  /** The create was not accepted, and the workflow ends with the outcome `rejected`. */
  readonly declareLost: Decision;
  /** The create is sent again, which may cost money a second time. */
  readonly resubmit: Decision;
}

/** A `sendId` that names no send. The result then reports what happened to the call. */
export const NO_SEND = 'none';

/** Input of `media.resolveUnconfirmed`. */
export type ResolveUnconfirmedCall = Omit<ResolveUnconfirmedInput, 'taskQueue'>;

/** Why a decision was not carried out; public values. */
export type UnresolvedReason =
  /** `by`, `reason`, `decision` or the task id is missing or wrong. */
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

/** Result of a decision. `answer` is the call's outcome, if known. */
export type ResolveUnconfirmedResult =
  | {
      readonly resolved: true;
      /** The recorded decision. */
      readonly decision: UnconfirmedDecision;
      /** The call that was decided about. */
      readonly creationKey: string;
      /** The send that was decided about, from 0. */
      readonly sendAttempt: number;
      /** The outcome that follows; null after `resubmit`, because the next send determines it. */
      readonly answer: CreateVideoAnswer | null;
      /** One sentence for a person. */
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
      /** With `already_decided`: the decision about the named send, if there is one. */
      readonly stands?: DecisionInForce;
      /** One sentence for a person, with what to do instead. */
      readonly message: string;
    };

/** Returns what is wrong with a decision from untyped input; undefined if it can be applied. */
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
  saying(value, field, 'which send it is about (`sendId` of the evidence)', 200);
export const byCheck: Check<string> = (value, field) => saying(value, field, 'who decides', 200);
export const reasonCheck: Check<string> = (value, field) => saying(value, field, 'why', 1000);

function saying(value: unknown, field: string, what: string, most: number): ValidationIssue | undefined {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= most) return undefined;
  return {
    field,
    message: `${field} must say ${what}, in at most ${most.toLocaleString('en-US')} characters.`,
  };
}

/** Input of the workflow `reviewJournal` and of `media.reviewJournal`, which return one page of a worker's journal. */
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
  /** ISO 8601. Returns only calls sent at or after this time. */
  readonly since?: string;
  /** Task queue of the workers that have the journal. @default that of this workflow */
  readonly taskQueue?: string;
}

export const REVIEW_JOURNAL_SHAPE = {
  list: oneOf('unconfirmed', 'created', 'decided'),
  creationKey: optional(creationKeyCheck),
  after: optional(orNull(anyText)),
  since: optional(isoTime),
  taskQueue: optional(taskQueueCheck),
} satisfies ShapeOf<ReviewJournalInput>;

/** A paid call with an unknown outcome, or one that was paid for but lost its results. */
export interface UnconfirmedEntry {
  /** Names the call in decisions. */
  readonly creationKey: string;
  /** Index of the send with the unknown outcome, from 0. */
  readonly sendAttempt: number;
  /** An image call has no task to adopt. */
  readonly operation: PaidRequest['operation'];
  /** `in_flight`: its sender may still be alive. */
  readonly state: 'in_flight' | 'unconfirmed' | 'results_lost';
  /** For searching the service's records. */
  readonly evidence: CreateEvidence;
  /** What sending again may cost; null means unknown, never free. */
  readonly estimate: Money | null;
  /** Null where the journal does not say. */
  readonly workflowId: string | null;
  /** Null where the journal does not say. */
  readonly runId: string | null;
  /**
   * Whether starting the same id again fetches the missing results without sending anything. Only with `results_lost`.
   */
  readonly fetchable: boolean;
}

/** A task that exists, with its creation key and workflow. */
export interface CreatedEntry {
  /** The id of the start, or the key that the caller gave. */
  readonly creationKey: string;
  /** The send that was accepted, from 0. */
  readonly sendAttempt: number;
  /** The task at the service. */
  readonly taskId: string;
  /** Credential name and digest of the base address. */
  readonly account: string;
  /** Null for a task that was adopted by its id. */
  readonly model: string | null;
  /** ISO 8601 */
  readonly createdAt: string | null;
  /** The workflow that created it; null for an activity that was not scheduled by a workflow. */
  readonly workflowId: string | null;
  /** Run id of that workflow or activity. */
  readonly runId: string | null;
  /** The activity that created it. Without a workflow, the id that its caller gave. */
  readonly activityId: string;
}

/** A recorded decision about a paid call with an unknown outcome. */
export interface DecidedEntry {
  /** The call that was decided about. */
  readonly creationKey: string;
  /** The send that was decided about, from 0. */
  readonly sendAttempt: number;
  /** The same send, as named in its evidence. */
  readonly sendId: string;
  /** What was decided. */
  readonly decision: UnconfirmedDecision;
  /** Who decided. */
  readonly by: string;
  /** Why, in that person's words. */
  readonly reason: string;
  /** ISO 8601 */
  readonly at: string;
  /** With `adopt` only. */
  readonly taskId: string | null;
}

/**
 * Part of a journal: calls with an unknown outcome, created videos and decisions for the creation keys that were read.
 */
export interface ReviewJournalPage {
  /** Empty unless they were asked for. */
  readonly unconfirmed: readonly UnconfirmedEntry[];
  /** Empty unless they were asked for. */
  readonly created: readonly CreatedEntry[];
  /** Empty unless they were asked for. */
  readonly decided: readonly DecidedEntry[];
  /** Number of creation keys that were read. */
  readonly scanned: number;
  /** Null after the last page. */
  readonly next: string | null;
}
