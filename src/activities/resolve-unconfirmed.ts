import {
  type CreateJournal,
  type SendAttemptView,
  isOpenFate,
  isPaid,
  type JournalKey,
  type Resolution,
  type ClaimIntent,
} from '../domain/journal';
import { type VideoModel } from '../domain/model-config';
import { type CreatedVideo, type CreateVideoAnswer, type RejectedCall } from '../domain/paid-call';
import { DEFAULT_POLLING, type PollingProfile } from '../domain/polling-profile';
import {
  decisionIssue,
  type ResolveUnconfirmedCall,
  type ResolveUnconfirmedResult,
  type StandingDecision,
  type UnresolvedReason,
} from '../domain/unconfirmed-decision';
import { isUsableTaskId } from '../domain/task-id';
import { awaitSender } from './await-sender';
import { leaveToAnotherWorker } from './another-worker';
import { clearOf, redactorsOf, retryLater } from './failures';
import { journalUnavailable } from './journal-failures';
import { factsIn } from './intent-of';
import { claimTask, indexCreated, isForeign } from './send-attempts';
import { rejectedAnswer } from './paid-answers';
import { caller, type PaidDeps } from './paid-context';

/**
 * Writes a person's decision about a paid call of unknown fate into the journal (failure model: The journal). Sends
 * nothing paid: an adoption reads the record of the task from the service once, and a resubmission only opens the next
 * send attempt for the next start of the same id. A decision that is carried out twice authorises one send.
 */
export function createResolveUnconfirmed(
  deps: PaidDeps,
): (input: ResolveUnconfirmedCall) => Promise<ResolveUnconfirmedResult> {
  return async (input) => {
    const { creationKey } = input;
    const refused = (
      reason: UnresolvedReason,
      message: string,
      answer: CreateVideoAnswer | null = null,
      stands?: StandingDecision,
    ): ResolveUnconfirmedResult => ({
      resolved: false,
      reason,
      creationKey,
      answer,
      ...(stands !== undefined && { stands }),
      message,
    });

    const words = await said(input, deps);
    const issue = decisionIssue({ ...input, ...words });
    if (issue !== undefined) return refused('invalid_decision', issue);
    const { journal } = deps;
    if (journal === 'none')
      return refused('no_journal', 'This worker keeps no journal to write a decision into.');
    const who = caller();
    const key: JournalKey = { namespace: who.namespace, creationKey };
    const found = await findNamed(journal, key, { ...input, ...words }).catch((error: unknown) => {
      throw journalUnavailable(error);
    });
    switch (found.is) {
      case 'repeated':
        // An attempt may have died right after it wrote the record, so the rest is repeated.
        await followResolution(journal, key, found);
        return resolved(input, found.sendAttempt, videoAnswer(found.resolution));
      case 'decided':
        return refused(
          'already_decided',
          decidedMessage(found.resolution),
          videoAnswer(found.resolution),
          standing(found),
        );
      case 'another':
        return refused('already_decided', ANOTHER);
      case 'known':
        return refused('already_known', KNOWN, found.answer);
      case 'nothing':
        return refused('nothing_unconfirmed', NOTHING);
      case 'open':
        break;
    }
    const { claim, sendAttempt } = found;
    if (found.view.outcome === null) awaitSender(claim, who.serverTime(), SENDER);
    const made = await answerOf({ ...input, ...words }, found, deps, key);
    if ('refused' in made) return refused(made.refused, made.message);
    const resolution: Resolution = {
      v: 1,
      decision: input.decision,
      ...words,
      at: new Date().toISOString(),
      answer: made.answer,
    };
    await writeResolution(journal, key, { sendAttempt, claim, resolution });
    return resolved(input, sendAttempt, made.answer);
  };
}

type Found =
  | {
      readonly is: 'open';
      readonly sendAttempt: number;
      readonly claim: ClaimIntent;
      readonly view: SendAttemptView;
    }
  | ({ readonly is: 'repeated' } & DecidedSendAttempt)
  | ({ readonly is: 'decided' } & DecidedSendAttempt)
  /** Another send than the named one waits for a decision. */
  | { readonly is: 'another' }
  | { readonly is: 'known'; readonly answer: CreateVideoAnswer }
  | { readonly is: 'nothing' };

/**
 * Finds the named send where it waits for a decision, else the reason why it does not. A send without an outcome does
 * not wait where a later send attempt was claimed for a send: that sender knew that nothing was accepted.
 */
async function findNamed(
  journal: CreateJournal,
  key: JournalKey,
  call: ResolveUnconfirmedCall,
): Promise<Found> {
  let last: Found = { is: 'nothing' };
  let known: Extract<Found, { is: 'known' }> | undefined;
  let decided: Extract<Found, { is: 'repeated' | 'decided' }> | undefined;
  let open: Extract<Found, { is: 'open' }> | undefined;
  for (let sendAttempt = 0; ; sendAttempt++) {
    const view = await journal.read(key, sendAttempt);
    const { claim, outcome, resolution } = view;
    if (claim === null) return open ?? known ?? decided ?? last;
    if (claim.kind === 'fence') continue;
    const isNamed = claim.nonce === call.sendId;
    if (open?.view.outcome === null) open = undefined;
    if (isPaid(outcome?.answer) || resolution?.answer?.outcome === 'completed') {
      if (outcome?.answer.outcome === 'created') known = { is: 'known', answer: outcome.answer };
    } else if (resolution) {
      const is = isNamed && isRepeated(resolution, call) ? 'repeated' : 'decided';
      const found = { is, sendAttempt, claim, resolution } as const;
      if (isNamed) decided = found;
      else last = found;
    } else if (isOpenFate(view)) {
      last = { is: 'another' };
      if (isNamed) open = { is: 'open', sendAttempt, claim, view };
    }
  }
}

/** Images that were fetched later are no person's decision, and never returned here. */
function videoAnswer({ answer }: Resolution): CreatedVideo | RejectedCall | null {
  return answer?.outcome === 'completed' ? null : answer;
}

/** Whether this very decision is recorded: an attempt that wrote it may have died, and a reset carries it out again. */
function isRepeated({ decision, by, reason, answer }: Resolution, call: ResolveUnconfirmedCall): boolean {
  if (decision !== call.decision || by !== call.by || reason !== call.reason) return false;
  return decision !== 'adopt' || (answer?.outcome === 'created' && answer.video.taskId === call.taskId);
}

const standing = ({ sendAttempt, claim, resolution }: DecidedSendAttempt): StandingDecision => ({
  sendId: claim.nonce,
  sendAttempt,
  decision: resolution.decision,
  by: resolution.by,
  at: resolution.at,
});

const SENDER = {
  message: 'A sender of this call may still be alive; nothing is decided before it is certainly done.',
  everyMs: 5_000,
};

type Made =
  | { readonly answer: CreatedVideo | RejectedCall | null }
  | { readonly refused: UnresolvedReason; readonly message: string };

async function answerOf(
  input: ResolveUnconfirmedCall,
  { claim, sendAttempt, view }: Extract<Found, { is: 'open' }>,
  deps: PaidDeps,
  key: JournalKey,
): Promise<Made> {
  if (input.decision === 'resubmit') return { answer: null };
  if (input.decision === 'adopt') return adoption(input.taskId ?? '', claim, sendAttempt, deps, key);
  const base = { sendAttempt, sent: true, account: claim.account, estimate: claim.estimate };
  // Lost results prove that it was paid for: no decision can undo that.
  if (view.outcome?.answer.outcome === 'results_lost') {
    const message = `It was paid for and its results were lost; ${input.by} declared that nothing more is done about it.`;
    return { answer: rejectedAnswer({ ...base, mayBeOwed: true }, 'declared_lost', message) };
  }
  const message = `Its fate was unknown; ${input.by} declared that nothing was accepted.`;
  return { answer: rejectedAnswer(base, 'declared_lost', message) };
}

/**
 * Checks that the service knows the task and that no other key owns it: a mistyped id would be polled for ever, and the
 * paid task lost.
 */
async function adoption(
  taskId: string,
  claim: ClaimIntent,
  sendAttempt: number,
  deps: PaidDeps,
  key: JournalKey,
): Promise<Made> {
  const no = (refused: UnresolvedReason, message: string): Made => ({ refused, message });
  if (claim.operation !== 'create_video')
    return no('no_task_to_adopt', 'An image call makes no task. Declare it lost, or resubmit it.');
  if (!isUsableTaskId(taskId)) return no('invalid_decision', 'taskId is not a valid task id.');
  const account = deps.accounts.find(claim.account);
  if (account === undefined) {
    leaveToAnotherWorker();
    return no(
      'account_not_configured',
      `This worker does not have the account ${claim.account}, which sent the create.`,
    );
  }
  const owners = await (deps.journal as CreateJournal).findTask(taskId).catch((error: unknown) => {
    throw journalUnavailable(error);
  });
  if (owners.some((owner) => isForeign(owner, key, claim))) return no('task_of_another_key', FOREIGN);
  const seen = await account.client.getVideo(taskId);
  if (seen.kind === 'error') {
    const status = seen.httpStatus === undefined ? '' : ` (HTTP ${seen.httpStatus})`;
    return seen.error === 'not_found' || seen.error === 'bad_request'
      ? no('task_unknown', `The service does not know this task id${status}. Check the id and the account.`)
      : no(
          'service_unavailable',
          `The service could not be asked for the task: ${seen.error}${status}. Try again.`,
        );
  }
  const { reported, status } = seen.record;
  if (claim.model !== null && reported?.model !== undefined && reported.model !== claim.model)
    return no(
      'task_of_another_key',
      'The service reports another model for this task than the create asked for.',
    );
  const lookup =
    claim.model === null ? undefined : await (account.models ?? deps.models).lookup(claim.model, 'video');
  const polling = lookup?.found === 'entry' ? (lookup.entry as VideoModel).polling : undefined;
  const answer = adoptedAnswer(claim, sendAttempt, taskId, status, polling);
  const ours = await claimTask(deps.journal as CreateJournal, key, claim, answer).catch((error: unknown) => {
    throw journalUnavailable(error);
  });
  return ours ? { answer } : no('task_of_another_key', FOREIGN);
}

function resolved(
  { decision, creationKey }: ResolveUnconfirmedCall,
  sendAttempt: number,
  answer: CreateVideoAnswer | null,
): ResolveUnconfirmedResult {
  return { resolved: true, decision, creationKey, sendAttempt, answer, message: MESSAGES[decision] };
}

const MESSAGES = {
  adopt:
    'The task is adopted: start the same id again, or resume the task, to get its video. Nothing is created again.',
  declareLost: 'Declared lost: nothing is sent under this id any more. Use a new id to buy it.',
  resubmit: 'Authorised: the next start of the same id sends once more, which may cost a second time.',
} as const;
const FOREIGN = 'The journal has this task under another id: it is the result of another create.';
const ANOTHER =
  'Another send than the one of this decision has an unknown fate by now. Read its evidence, then decide about that one.';
const KNOWN = 'The journal knows what became of this call; there is nothing to decide.';
const NOTHING = 'No paid call under this key has an unknown fate. Check the key and the namespace.';

function decidedMessage({ decision, by, at }: Resolution): string {
  return `${by} decided ${decision} at ${at}; a decision is final.`;
}

/** Cleans who decided and why for the journal, which is a diagnostic (C5.4a to C5.4c): people paste addresses. */
async function said(
  { by, reason }: ResolveUnconfirmedCall,
  { accounts }: PaidDeps,
): Promise<Pick<Resolution, 'by' | 'reason'>> {
  const issue = decisionIssue({ sendId: 'any', decision: 'declareLost', by, reason });
  // The caller reports the issue, for the text as it was typed.
  if (issue !== undefined) return { by, reason };
  const clear = clearOf(await redactorsOf(accounts));
  const clean = (text: string): string => clear(printable(text), 1000);
  return { by: clean(by).trim(), reason: clean(reason).trim() };
}

/** Removes control characters and changes of direction, with which a reason could forge lines in a list. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]+/gu, ' ').trim();
}

/** The answer of a create that made this task, with the facts from its intent (C4.4b). */
export function adoptedAnswer(
  claim: ClaimIntent,
  sendAttempt: number,
  taskId: string,
  status: string,
  polling: PollingProfile = DEFAULT_POLLING,
): CreatedVideo {
  const { account, estimate } = claim;
  return {
    outcome: 'created',
    sendAttempt,
    sent: true,
    account,
    estimate,
    status,
    warnings: ['The task was adopted: the reply of its create was never read.'],
    video: {
      taskId,
      ...factsIn(claim),
      polling,
      createdAt: claim.at,
      source: 'journal',
    },
  };
}

/** A decision about one send attempt. */
interface DecidedSendAttempt {
  readonly sendAttempt: number;
  readonly claim: ClaimIntent;
  readonly resolution: Resolution;
}

/**
 * Writes a decision and its follow-up records. Throws a retryable failure where another decision was written first;
 * that one counts.
 */
export async function writeResolution(
  journal: CreateJournal,
  key: JournalKey,
  decided: DecidedSendAttempt,
): Promise<void> {
  const taken = await journal
    .putResolution(key, decided.sendAttempt, decided.resolution)
    .catch((error: unknown) => {
      throw journalUnavailable(error);
    });
  // It may also be this decision, written by an attempt that died: the retry reads which.
  if (taken === 'lost')
    throw retryLater({ class: 'decided', message: 'Somebody decided just now.', delayMs: 100 });
  await followResolution(journal, key, decided);
}

/** Writes the follow-up records of a decision; repeated whenever it is repeated. */
async function followResolution(
  journal: CreateJournal,
  key: JournalKey,
  { sendAttempt, claim, resolution }: DecidedSendAttempt,
): Promise<void> {
  await journal.forgetOpen({ ...key, sendAttempt }, claim.bodyHash);
  if (resolution.answer !== null) await indexCreated(journal, key, resolution.answer, claim);
}
