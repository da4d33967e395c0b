import { type Downloaded, type DownloadVideoResult } from './download';
import { type JsonValue } from './json';
import {
  type Cancelled,
  type CompletedVideo,
  type ContentUnavailable,
  type FailedVideo,
  type ImageOutcome,
  type Rejected,
  type RequestedFacts,
  type StillRunning,
  type TaskUnknown,
  type Unconfirmed,
} from './outcome';
import {
  type CreateEvidence,
  type ImageCallAnswer,
  type RejectedCall,
  type UnconfirmedCall,
} from './paid-call';
import { type ReportedFacts } from './poll-answers';
import { watchFacts, type WatchState } from './watch-state';
import { billing, type Billing, finishedState, type Money } from './price';
import { requestBudgetMs } from './request-budget';
import { type ErrorKind, type TaskError, type VideoTask } from './video-task';
import { given } from './given';

/** Builders of outcomes from facts, messages and money (architecture: Outcomes). */

export function requestedFacts(video: VideoTask): RequestedFacts {
  const { model, durationSeconds, resolution, referenceMode } = video;
  return { model, durationSeconds, resolution, referenceMode };
}

/** Warnings where the service reports something else than was requested (C2.2.5). */
export function differences(requested: RequestedFacts, reported: ReportedFacts): string[] {
  return (['model', 'durationSeconds', 'resolution'] as const).flatMap((fact) => {
    const asked = requested[fact];
    const told = reported[fact];
    return asked === null || told === undefined || asked === told
      ? []
      : [`The service reports ${fact} ${told}; ${asked} was requested.`];
  });
}

export interface VideoEnd {
  readonly video: VideoTask;
  readonly estimate: Money | null;
  readonly state: WatchState;
  /** Something else under its key may have cost too: the usage reported for this task settles nothing. */
  readonly mayBeOwed?: true;
}

export function completed(
  end: VideoEnd,
  download: Downloaded,
  record: { readonly usage?: JsonValue; readonly reported?: ReportedFacts },
  warnings: readonly string[],
): CompletedVideo {
  const usage = download.usage ?? record.usage;
  const requested = requestedFacts(end.video);
  const reported = { ...record.reported, ...download.reported };
  return {
    outcome: 'completed',
    video: end.video,
    artifact: download.artifact,
    sidecar: download.sidecar,
    requested,
    reported,
    warnings: [...new Set([...warnings, ...download.warnings, ...differences(requested, reported)])],
    watch: watchFacts(end.state),
    billing: billing(end.estimate, end.mayBeOwed === true ? 'needs_review' : finishedState(usage), usage),
  };
}

export function stillRunning(end: VideoEnd, lastStatus?: string): StillRunning {
  return {
    outcome: 'still_running',
    video: end.video,
    ...watchFacts(end.state),
    ...(lastStatus === undefined ? {} : { lastStatus }),
    billing: billing(end.estimate, 'reserved'),
  };
}

export function failed(end: VideoEnd, error: TaskError, usage?: JsonValue): FailedVideo {
  return {
    outcome: 'failed',
    video: end.video,
    error,
    retryable: mayRetry(error.kind),
    watch: watchFacts(end.state),
    // A failed job can still need billing review (C1.8): the reservation is kept.
    billing: billing(end.estimate, 'needs_review', usage),
  };
}

export function taskUnknown(end: VideoEnd): TaskUnknown {
  return {
    outcome: 'task_unknown',
    video: end.video,
    message:
      'The service does not know this task id. Check the id, the account and the path /v1/videos/{task_id}. This is not a failed video and not a reason to create another one.',
    watch: watchFacts(end.state),
    billing: billing(end.estimate, 'needs_review'),
  };
}

export function contentUnavailable(
  end: VideoEnd,
  result: Extract<DownloadVideoResult, { outcome: 'content_unavailable' }>,
  usage?: JsonValue,
): ContentUnavailable {
  const { reason, message, tries, rejected, httpStatus } = result;
  return {
    outcome: 'content_unavailable',
    video: end.video,
    reason,
    message,
    tries,
    rejected,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    billing: billing(end.estimate, 'needs_review', usage),
  };
}

const VALIDATED: ReadonlySet<RejectedCall['reason']> = new Set(['moderation', 'invalid_request']);

/**
 * Whether the service may bill the validation of the refused request: that nothing was accepted does not prove that
 * nothing is owed (C7.10). A refusal of the whole account or model validates no request.
 */
export function isValidated({ httpStatus, standing, reason }: RejectedCall): boolean {
  return httpStatus !== undefined && standing === undefined && VALIDATED.has(reason);
}

export function rejected(call: RejectedCall, creationKey: string | null, sends: number): Rejected {
  const mayBeOwed = call.mayBeOwed === true || isValidated(call);
  const { reason, message, field, allowed, httpStatus, error, notBefore } = call;
  return {
    outcome: 'rejected',
    creationKey,
    reason,
    message,
    ...given({ field, allowed, httpStatus, error, notBefore }),
    sends,
    billing: billing(call.estimate, mayBeOwed ? 'needs_review' : 'none'),
  };
}

/** A refusal by workflow or client code, before any activity: nothing was sent. */
export function refusedBeforeSend(
  reason: RejectedCall['reason'],
  message: string,
  field: string,
  allowed?: readonly string[],
): Rejected {
  const call: RejectedCall = {
    outcome: 'rejected',
    sendAttempt: 0,
    sent: false,
    account: null,
    estimate: null,
    reason,
    message,
    field,
    ...(allowed === undefined ? {} : { allowed }),
  };
  return rejected(call, null, 0);
}

export function unconfirmed(call: UnconfirmedCall, creationKey: string): Unconfirmed {
  return {
    outcome: 'unconfirmed',
    creationKey,
    sendAttempt: call.sendAttempt,
    evidence: call.evidence,
    message: unconfirmedMessage(call),
    billing: billing(call.estimate, 'needs_review'),
  };
}

function unconfirmedMessage({ evidence, resent }: UnconfirmedCall): string {
  const start =
    evidence.httpStatus === 500
      ? 'HTTP 500 may come from before a task existed (parsing, capability validation) and proves no fault of the provider.'
      : 'It is not known whether the service accepted the request.';
  const sent =
    resent === true
      ? 'It was sent again under the same idempotency key until the tries were over'
      : 'It was sent once and is not sent again';
  const slow = evidence.cause === 'timeout_after_send' ? ` ${noAnswerInTime(evidence)}` : '';
  return `${start} ${sent}; money may be owed. Look into the task records of the service with the evidence.${slow}`;
}

/** Advice for later calls of a slow model. */
function noAnswerInTime({ referenceMode }: CreateEvidence): string {
  const unlessGiven = requestBudgetMs(referenceMode === null ? 'image' : 'video', undefined) / 1000;
  return `The service did not answer in time: within requestSeconds of the model's entry in MEDIA_MODELS, ${unlessGiven} unless it is given there. Where the model takes longer, set it to more for later calls.`;
}

export function cancelled(video: VideoTask | null, creationKey: string | null, money: Billing): Cancelled {
  return { outcome: 'cancelled', video, creationKey, billing: money };
}

/** Whether another attempt, under a new creation key, can help (C3.7, C7.7). */
export function mayRetry(kind: ErrorKind): boolean {
  return kind === 'capacity';
}

/** The builders as one object, for code that uses several of them. */
export const outcomes = {
  cancelled,
  completed,
  contentUnavailable,
  failed,
  refusedBeforeSend,
  rejected,
  stillRunning,
  taskUnknown,
  unconfirmed,
};

/** The outcome of an image call; undefined for answers after which it may continue (nothing was accepted). */
export function imageOutcome(answer: ImageCallAnswer, creationKey: string): ImageOutcome | undefined {
  switch (answer.outcome) {
    case 'completed': {
      const { images, created, warnings, usage, estimate, mayBeOwed } = answer;
      return {
        outcome: 'completed',
        images,
        created,
        warnings,
        billing: billing(estimate, mayBeOwed === true ? 'needs_review' : finishedState(usage), usage),
      };
    }
    case 'results_lost': {
      const { images, created, reason, message, estimate, usage } = answer;
      return {
        outcome: 'results_lost',
        creationKey,
        images,
        created,
        reason,
        message,
        fetchable: answer.sealedLinks !== undefined,
        billing: billing(estimate, 'needs_review', usage),
      };
    }
    case 'rejected':
      return rejected(answer, creationKey, answer.sent ? 1 : 0);
    case 'unconfirmed':
      return unconfirmed(answer, creationKey);
    case 'not_sent':
    case 'refused_for_now':
    case 'pending':
      return undefined;
  }
}
