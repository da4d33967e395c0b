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
 * A person's decision about a paid call of unknown fate (failure model: The log).
 * - `adopt`: it was accepted, and this is its task.
 * - `declareLost`: nothing was accepted. It stays unsent under this key.
 * - `resubmit`: send once more; the first send may have been accepted and cost too.
 */
export type UnconfirmedDecision = 'adopt' | 'declareLost' | 'resubmit';

/** Input of the workflow `resolveUnconfirmed`. */
export interface ResolveUnconfirmedInput {
  /** The id of the start, or the key that the caller gave. */
  readonly creationKey: string;
  /**
   * The send that the decision is about, as its evidence names it. A decision authorises nothing about any other send,
   * however often it is carried out.
   * @minLength 1
   * @maxLength 200
   */
  readonly sendId: string;
  /** Final once it is recorded. */
  readonly decision: UnconfirmedDecision;
  /** With `adopt` only. */
  readonly taskId?: string;
  /**
   * Who decides; kept in the journal.
   * @minLength 1
   * @maxLength 200
   */
  readonly by: string;
  /**
   * Why; kept in the journal. No prompt, key or address.
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
 * Arguments of the Updates by which a person decides about the create of a running `generateVideo`. `sendId` is that of
 * the evidence in the query `video_state`. A server that is reset applies Updates again: the send that they name is then
 * decided already, and nothing more is authorised.
 */
export interface VideoUpdates {
  /** It was accepted as this task: the workflow waits for it. */
  readonly adopt: Decision & { readonly taskId: string };
  /** It was not accepted: the workflow ends as `rejected`. */
  readonly declareLost: Decision;
  /** It is sent once more, which may cost a second time. */
  readonly resubmit: Decision;
}

/** A `sendId` that names no send: the result then says what became of the call. */
export const NO_SEND = 'none';

/** Input of `media.resolveUnconfirmed`. */
export type ResolveUnconfirmedCall = Omit<ResolveUnconfirmedInput, 'taskQueue'>;

/** Why a decision was not carried out; public values. */
export type UnresolvedReason =
  /** by, reason, decision or task id are missing or wrong. */
  | 'invalid_decision'
  /** No paid call under this key has an unknown fate. */
  | 'nothing_unconfirmed'
  /** The journal holds its outcome. */
  | 'already_known'
  /** It was decided before, or the send of unknown fate is another one by now. */
  | 'already_decided'
  /** The service does not know the task, or could not be reached. */
  | 'task_unknown'
  | 'service_unavailable'
  /** The journal has this task under another key. */
  | 'task_of_another_key'
  /** An image call has no task to adopt. */
  | 'no_task_to_adopt'
  | 'account_not_configured'
  | 'no_journal';

/** A decision that is recorded, and the send that it is about. */
export type DecisionInForce = Pick<DecidedEntry, 'sendId' | 'sendAttempt' | 'decision' | 'by' | 'at'>;

/** Result of a decision. `answer` is the call's outcome as far as it is known. */
export type ResolveUnconfirmedResult =
  | {
      readonly resolved: true;
      /** The decision that stands. */
      readonly decision: UnconfirmedDecision;
      /** The call that was decided about. */
      readonly creationKey: string;
      /** The send that was decided about, from 0. */
      readonly sendAttempt: number;
      /** What follows from it; null after `resubmit`, where the next send decides. */
      readonly answer: CreateVideoAnswer | null;
      /** One sentence for a person. */
      readonly message: string;
    }
  | {
      readonly resolved: false;
      /** What stands in the way. */
      readonly reason: UnresolvedReason;
      /** The call that was to be decided about. */
      readonly creationKey: string;
      /** The outcome that the journal has already; null where it has none. */
      readonly answer: CreateVideoAnswer | null;
      /** With `already_decided`: the decision about the named send, if there is one. */
      readonly stands?: DecisionInForce;
      /** One sentence for a person, with what to do instead. */
      readonly message: string;
    };

/** What is wrong with a decision from untyped input; undefined when it can be carried out. */
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

/** Input of the workflow `reviewJournal` and of `media.reviewJournal`: one page of what a worker's journal holds. */
export interface ReviewJournalInput {
  /**
   * `unconfirmed`: calls of unknown fate without a decision. `created`: tasks that exist. `decided`: decisions about
   * calls of unknown fate.
   */
  readonly list: 'unconfirmed' | 'created' | 'decided';
  /** Limits the page to one creation key. */
  readonly creationKey?: string;
  /** `next` of the previous page. @default the first page */
  readonly after?: string | null;
  /** ISO 8601: only what was sent at or after this time. */
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

/** A paid call of unknown fate, or one that is paid and whose results are lost. */
export interface UnconfirmedEntry {
  /** Names the call in decisions. */
  readonly creationKey: string;
  /** The send of unknown fate, from 0. */
  readonly sendAttempt: number;
  /** An image call has no task to adopt. */
  readonly operation: PaidRequest['operation'];
  /** `in_flight`: its sender may still be alive. */
  readonly state: 'in_flight' | 'unconfirmed' | 'results_lost';
  /** For a search in the records of the service. */
  readonly evidence: CreateEvidence;
  /** What one more send may cost; null is unknown, never free. */
  readonly estimate: Money | null;
  /** Null where the journal does not say. */
  readonly workflowId: string | null;
  /** Null where the journal does not say. */
  readonly runId: string | null;
  /** Only with `results_lost`: whether starting the same id again fetches the missing results without sending anything. */
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
  /** Of the workflow that created it; null for an activity that no workflow has scheduled. */
  readonly workflowId: string | null;
  /** Of the workflow, or of that activity. */
  readonly runId: string | null;
  /** Of the activity that created it: where no workflow did, the id that its caller gave. */
  readonly activityId: string;
}

/** A recorded decision about a paid call of unknown fate. */
export interface DecidedEntry {
  /** The call that was decided about. */
  readonly creationKey: string;
  /** The send that was decided about, from 0. */
  readonly sendAttempt: number;
  /** The same send, as its evidence names it. */
  readonly sendId: string;
  /** What was decided. */
  readonly decision: UnconfirmedDecision;
  /** Who decided. */
  readonly by: string;
  /** Why, in the words of whoever decided. */
  readonly reason: string;
  /** ISO 8601 */
  readonly at: string;
  /** With `adopt` only. */
  readonly taskId: string | null;
}

/** Part of a journal: calls of unknown fate, created videos, and decisions, of the creation keys that were read. */
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
