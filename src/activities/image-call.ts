import { cancellationDetails } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { givenAt } from '../domain/clocks';
import { afterImage, beginCreate } from '../domain/create-once';
import { activityKey, givenKeyIssue } from '../domain/creation-key';
import { type IntentEntry, type Send } from '../domain/log-entries';
import { type ImageModel, validateAgainstModel } from '../domain/model-config';
import { billing, estimateFor } from '../domain/money';
import { BATCH_CLOSED, NOT_RECORDED, RETRY_LATER, UNSAFE_RETRIES } from '../domain/names';
import { type ImageOutcome, imageOutcome, outcomes } from '../domain/outcome';
import {
  type EditImageInput,
  evidence,
  type GenerateImageInput,
  IMAGE_INPUT_SHAPE,
  type ImageCallAnswer,
  type WaitingImage,
} from '../domain/paid-call';
import { stateOf } from '../domain/paid-log';
import { type ImageGenerationRequest, type PaidRequest } from '../domain/request';
import { milliseconds, shapeIssue } from '../domain/shape';
import { IMAGE_TIMEOUTS, requestBudgetMs } from '../domain/timeouts';
import { validateRequest } from '../domain/validate-request';
import { callWait } from '../domain/video-state';
import { type MediaClient } from '../service/media-client';
import { wireEditBody, wireGenerationBody } from '../service/request-bodies';
import { msUntil } from '../service/time-left';
import { type WireFile } from '../service/wire-body';
import { type Account } from '../settings/accounts';
import { retryLater } from './failures';
import { fetchLostImages, storeImages, type ImageStorage } from './image-results';
import { type PaidSpec } from './intent';
import {
  type AnswerBase,
  failureAnswer,
  rejectedAnswer,
  unconfirmedBySend,
  unsentAnswer,
  warningsAfter,
} from './paid-answers';
import {
  caller,
  type Caller,
  type MissingHere,
  NOT_VALIDATED,
  type PaidDeps,
  type Prepared,
  isUnsafeRetry,
  refuseUnsafeRetries,
  UNSENDABLE,
} from './paid-context';
import { sendOnce } from './send-once';
import { timeLeft } from './send-window';
import { type Sender, withSender } from './sender';
import { resolveSource } from './sources';

type Answer = Exclude<ImageCallAnswer, { outcome: 'pending' }>;
type ImageInput = GenerateImageInput | EditImageInput;
type ImageCallInput = Omit<ImageInput, 'request'> & {
  /** Returns only what is recorded under the key. Sends nothing. */
  readonly recordedOnly?: true;
  /** See {@link PaidSpec}. */
  readonly agreedPrice?: number | null;
  readonly keepsBooks?: true;
  readonly payer?: string;
};

/** Implements `media.generateImage` and `media.editImage`: makes one image call ({@link callForImages}). */
export function createImageCall(
  operation: 'generate_image' | 'edit_image',
  deps: PaidDeps,
): (input: ImageInput) => Promise<ImageOutcome | WaitingImage> {
  return async (input) => {
    const who = caller(input);
    // Nobody but this activity can turn the failure into an outcome.
    if (who.workflowId === null && !who.isLater && isUnsafeRetry(deps.journal))
      return outcomes.refusedBeforeSend(UNSAFE_RETRIES, NO_JOURNAL, 'retry');
    refuseUnsafeRetries(deps.journal);
    const refused = rawInputIssue(input, who);
    if (refused !== undefined) return refused;
    const paid = { operation, request: input.request } as PaidRequest;
    return withSender(deps, (sender) => callForImages(deps, who, paid, input, sender)).catch(
      (error: unknown) => cancelledUnsent(error, who, input),
    );
  };
}

const NO_JOURNAL =
  'This worker has no journal, so a call must not be retried. Give the worker a journal, or set maximumAttempts to 1.';

/**
 * Returns the outcome of a call without a workflow that was canceled before this attempt sent anything. The server
 * would not run another attempt. @throws any other error
 */
function cancelledUnsent(
  error: unknown,
  { workflowId, activityId, isLater }: Caller,
  input: ImageInput,
): ImageOutcome {
  const isUnsent = error instanceof ApplicationFailure && error.type === RETRY_LATER;
  if (workflowId !== null || !isUnsent || cancellationDetails()?.cancelRequested !== true) throw error;
  const [details] = (error.details ?? []) as [{ readonly mayBeOwed?: true }?];
  const owes = isLater || details?.mayBeOwed === true;
  return outcomes.cancelled(
    null,
    input.creationKey || activityId,
    billing(null, owes ? 'needs_review' : 'none'),
  );
}

/** Before any lookup, validates the fields that an untyped caller can get wrong. */
function rawInputIssue(input: ImageInput, who: Caller): ImageOutcome | undefined {
  const issue = shapeIssue(input, IMAGE_INPUT_SHAPE);
  if (issue !== undefined)
    return outcomes.refusedBeforeSend('invalid_request', issue.message, issue.field, issue.allowed);
  // Without a workflow, the activity ID is the key.
  const own = who.workflowId === null ? who.activityId : '';
  const given: unknown = input.creationKey || own;
  // Helpers pass a key that belongs to the workflow they run in.
  const refused =
    typeof given === 'string'
      ? givenKeyIssue(given, who.workflowId ?? undefined)
      : 'creationKey must be a string. Nothing was sent.';
  return refused === undefined
    ? undefined
    : outcomes.refusedBeforeSend('creation_key_required', refused, 'creationKey');
}

/**
 * Makes one image call (contract 2.3, 2.4). The activity may be retried, because another intent is written only after a
 * proven refusal. Results are stored before the outcome is written. Payloads contain no image bytes.
 */
export async function callForImages(
  deps: PaidDeps,
  who: Caller,
  paid: PaidRequest,
  input: ImageCallInput,
  sender: Sender,
): Promise<ImageOutcome | WaitingImage> {
  const { workflowId, runId, activityId } = who;
  // Absent, null and empty keys are treated the same, as in workflows.
  const creationKey = input.creationKey || activityKey(workflowId, runId, activityId);
  const result = await sendOnce(deps, who, specOf(paid, creationKey, input, who, deps, sender));
  const startLimitMs = workflowId === null ? milliseconds(input.startLimit) : undefined;
  if (startLimitMs !== undefined) return outcomeInTime(result, { deps, who, creationKey, startLimitMs });
  const { answer: found, send } = result;
  const isKnown = found.outcome !== 'pending' || (send !== null && who.isLastAttempt);
  if (!isKnown) waitForSender(send, who, IMAGE_TIMEOUTS.maximumAttempts);
  const answer =
    found.outcome === 'pending'
      ? unconfirmedBySend({ sent: send as IntentEntry }, found.sendAttempt)
      : (found as Answer);
  if (input.waits === true && isWaiting(answer)) return givenAt(answer, Date.now());
  return imageOutcome(answer, creationKey) ?? answerOrRetry(answer, creationKey, who);
}

/**
 * Whether the call waits, because nothing was recorded or because a person must fix the cause of a standing refusal.
 * Such a wait is limited by time, not by the number of attempts. A call also waits if its batch is closed, because
 * another batch gets the row.
 */
function isWaiting(answer: Answer): answer is WaitingImage {
  if (answer.outcome === 'rejected') return answer.standing !== undefined;
  if (answer.outcome !== 'not_sent') return false;
  return (
    answer.cause === BATCH_CLOSED ||
    (!answer.sendAttemptUsed && !answer.permanent && answer.cause !== NOT_RECORDED)
  );
}

/** A call without a workflow, whose activity waits by its own attempts until the start limit. */
interface TimedCall {
  readonly deps: PaidDeps;
  readonly who: Caller;
  readonly creationKey: string;
  readonly startLimitMs: number;
}

/** Returns the outcome, or waits for another attempt by the rules of a create. */
async function outcomeInTime(
  { answer, send }: Awaited<ReturnType<typeof sendOnce>>,
  call: TimedCall,
): Promise<ImageOutcome> {
  const { deps, who, creationKey } = call;
  if (answer.outcome === 'pending') {
    // Another sender's time ends, so this wait does too.
    if (send !== null) waitForSender(send, who, Infinity);
    const unread = unsentAnswer(answer, 'journal_unavailable', UNREAD);
    const { sendAttempt, account, estimate } = answer;
    const unknown = { sendAttempt, account, estimate, outcome: 'unconfirmed', sent: true } as const;
    return waitOr(unread, call, () =>
      outcomes.unconfirmed(
        { ...unknown, evidence: evidence('no_outcome_recorded', { account }) },
        creationKey,
      ),
    );
  }
  const settled = answer as Answer;
  if (isWaiting(settled)) return waitOr(settled, call, (outcome) => outcome);
  const outcome = imageOutcome(settled, creationKey);
  if (outcome !== undefined) return outcome;
  // Waits are attempts too, so attempts say nothing about how often this call was sent.
  const key = { namespace: who.namespace, creationKey };
  const { sends } = stateOf(await deps.journal.read(key));
  const own = sends.filter(({ sent }) => sent.sender === who.sender).length;
  return answerOrRetry(settled, creationKey, {
    ...who,
    isLastAttempt: own >= IMAGE_TIMEOUTS.maximumAttempts,
  });
}

const UNREAD =
  'The journal could not be read or written, so it is unknown whether an earlier attempt has sent this call.';

function waitOr(
  answer: WaitingImage,
  { who, creationKey, startLimitMs }: TimedCall,
  end: (outcome: ImageOutcome) => ImageOutcome,
): ImageOutcome {
  const now = who.now();
  const waits = who.attempt - 1;
  // An earlier attempt may have found a purchase of another execution, and cannot pass this on.
  const state = {
    ...beginCreate(creationKey, Date.parse(who.scheduledAt)),
    waits,
    ...(waits > 0 && { elsewhere: true as const }),
  };
  const step = afterImage(state, answer, { now, random: Math.random(), startLimitMs });
  if ('outcome' in step) return end(step);
  throw retryLater({
    class: answer.outcome === 'not_sent' ? answer.cause : 'refused',
    message: answer.message,
    delayMs: Math.max(0, step.until - now),
    mayBeOwed: answer.mayBeOwed,
    waits: callWait(step, answer),
  });
}

function specOf(
  paid: PaidRequest,
  creationKey: string,
  input: ImageCallInput,
  who: Caller,
  deps: PaidDeps,
  sender: Sender,
): PaidSpec {
  const keeping = (
    client: MediaClient,
    base: AnswerBase,
    warnings: readonly string[],
    endsAt: number,
  ): ImageStorage => ({
    base,
    client,
    artifacts: deps.artifacts,
    requested: (paid.request as ImageGenerationRequest).n ?? 1,
    warnings: warningsAfter(base, warnings),
    deadlineAt: endsAt - IMAGE_TIMEOUTS.keepMarginMs,
    journal: deps.journal,
  });
  return {
    ...input,
    paid,
    creationKey,
    facts: { durationSeconds: null, resolution: null, referenceMode: null },
    afterReplyMs: IMAGE_TIMEOUTS.keepMs,
    retries: true,
    waitsItself: who.workflowId === null && input.startLimit !== undefined,
    sender,
    ...(input.recordedSince !== undefined && { recordedOnly: true }),
    prepare: (account) => prepareImage(paid, account, deps),
    post: async ({ account: { client }, ready, intent, base, window, exchange }) => {
      const { body, actual } = ready;
      const reply = await exchange((given) => {
        const options = { ...given, actual };
        return body.kind === 'json' ? client.generateImage(body, options) : client.editImage(body, options);
      });
      if (reply.class !== 'accepted') return failureAnswer(reply, base, intent);
      return storeImages(reply, keeping(client, base, ready.warnings, window.endsAt));
    },
    complete: async ({ account: { client }, base, recorded, ...found }) => {
      if (recorded.outcome !== 'results_lost') return undefined;
      const endsAt = Math.min(performance.now() + IMAGE_TIMEOUTS.keepMs, who.startedAt + who.startToCloseMs);
      sender.lastsUntil(endsAt);
      return fetchLostImages({ ...found, recorded }, keeping(client, base, [], endsAt));
    },
  };
}

/**
 * Makes another attempt wait for a sender that may still be running. Attempts with one to spare are soon, in case that
 * sender records its outcome. The others wait until its time has expired, in case its process has died.
 */
function waitForSender(send: Send['sent'] | null, who: Caller, attempts: number): never {
  const now = who.serverTime();
  const left = send === null ? 1000 : Math.max(0, timeLeft({ sent: send }, now));
  const until = send === null ? '' : `, until ${new Date(now + left).toISOString()} at the latest`;
  const soonMs = Math.min(60_000, 5_000 * 2 ** Math.max(0, who.attempt - 2));
  throw retryLater({
    class: 'waiting_for_sender',
    message: `A sender for this call may still be running. Waiting for its outcome${until}.`,
    delayMs: who.attempt < attempts - 1 ? Math.min(left + 100, soonMs) : left + 100,
  });
}

/**
 * Handles a call that was not accepted: the server retries the activity, and the last attempt returns an outcome
 * instead of throwing.
 */
function answerOrRetry(answer: Answer, creationKey: string, who: Caller): ImageOutcome {
  if (answer.outcome === 'refused_for_now') {
    const { httpStatus, error, notBefore } = answer;
    const delayMs = notBefore === null ? undefined : msUntil(notBefore);
    if (!who.isLastAttempt && (delayMs ?? 0) <= IMAGE_TIMEOUTS.longestPauseMs) {
      throw retryLater({
        class: 'refused_for_now',
        message: `The service temporarily refused the request with HTTP ${httpStatus}. Nothing was accepted.`,
        httpStatus,
        delayMs,
        retryAfterMs: delayMs,
        mayBeOwed: answer.mayBeOwed,
      });
    }
    const message =
      'The service temporarily refused the request. Nothing was accepted. Start it again later with the same ID.';
    const rejected = { ...rejectedAnswer(answer, 'retry_later', message), httpStatus, error };
    return finalOutcome(notBefore === null ? rejected : { ...rejected, notBefore }, creationKey);
  }
  if (answer.outcome === 'not_sent') {
    const { cause, message, reason = 'not_sent', field, heldUntil } = answer;
    if (!who.isLastAttempt && !answer.permanent && cause !== NOT_RECORDED) {
      const delayMs = heldUntil === undefined ? undefined : msUntil(heldUntil);
      throw retryLater({ class: cause, message, delayMs, mayBeOwed: answer.mayBeOwed });
    }
    const issue = field === undefined ? undefined : { field };
    return finalOutcome(rejectedAnswer(answer, reason, message, issue), creationKey);
  }
  throw new Error(`An image call cannot end with the outcome ${answer.outcome}`);
}

function finalOutcome(answer: Answer, creationKey: string): ImageOutcome {
  return imageOutcome(answer, creationKey) as ImageOutcome;
}

/** Validates an image call against the live configuration and builds its body. Sends nothing to the service. */
async function prepareImage(paid: PaidRequest, account: Account, deps: PaidDeps): Promise<Prepared> {
  // Runs first, because the code below relies on a shape that only the types guarantee.
  const [shapeIssue] = validateRequest(paid);
  if (shapeIssue !== undefined) return { kind: 'invalid', issue: shapeIssue, fileHashes: null };
  const fileHashes = new Map<string, string>();
  const files: WireFile[] = [];
  let mask: WireFile | undefined;
  let missing: MissingHere | undefined;
  if (paid.operation === 'edit_image') {
    const sources = [
      ...(paid.request.images ?? []).map((source, index) => ({ source, field: `images[${index}]` })),
    ];
    if (paid.request.mask !== undefined) sources.push({ source: paid.request.mask, field: 'mask' });
    for (const { source, field } of sources) {
      const resolved = await resolveSource(source, field, deps);
      if (resolved.kind === 'issue') return { kind: 'invalid', issue: resolved.issue, fileHashes: null };
      if (resolved.kind === 'missing') {
        missing ??= resolved.missing;
        continue;
      }
      if (resolved.kind === 'url') {
        const message = 'An edit requires files: specify {artifact} or {file} instead of a URL.';
        return { kind: 'invalid', issue: { field, message }, fileHashes: null };
      }
      if (!resolved.file.mediaType.startsWith('image/')) {
        const message = 'An edit accepts only images, and the content of this file is not an image.';
        return { kind: 'invalid', issue: { field, message }, fileHashes: null };
      }
      if ('file' in source) fileHashes.set(source.file, resolved.file.sha256);
      if (field === 'mask') mask = resolved.file;
      else files.push(resolved.file);
    }
  }
  const lookup = await (account.models ?? deps.models).lookup(paid.request.model, 'image');
  if (lookup.found === 'unavailable') return { kind: 'unavailable', message: lookup.message, fileHashes };
  const { issues, validated } = validateAgainstModel(paid, lookup);
  if (issues[0] !== undefined) return { kind: 'invalid', issue: issues[0], fileHashes };
  if (missing !== undefined) return { kind: 'missing', missing, fileHashes };
  const model = lookup.found === 'entry' ? (lookup.entry as ImageModel) : undefined;
  const wire =
    paid.operation === 'edit_image'
      ? wireEditBody(paid.request, files, mask)
      : wireGenerationBody(paid.request);
  if (!wire.ok) return { kind: 'invalid', issue: wire.issues[0] ?? UNSENDABLE, fileHashes };
  return {
    kind: 'ready',
    body: wire.body,
    estimate: estimateFor(paid, model),
    actual: model?.actual,
    budgetMs: requestBudgetMs('image', model),
    idempotency: model?.idempotency,
    warnings: validated ? [] : [NOT_VALIDATED],
    fileHashes,
  };
}
