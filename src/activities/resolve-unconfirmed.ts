import { type DecisionEntry, type JournalKey, type Send } from '../domain/log-entries';
import { isUnknown } from '../domain/paid-log';
import { type VideoModel } from '../domain/model-config';
import { type CreatedVideo, type CreateVideoAnswer, type RejectedCall } from '../domain/paid-call';
import {
  decisionIssue,
  type ResolveUnconfirmedCall,
  type ResolveUnconfirmedResult,
  type StandingDecision,
  type UnresolvedReason,
} from '../domain/unconfirmed-decision';
import { isUsableTaskId } from '../domain/task-id';
import { keepsNothing } from '../domain/journal';
import { awaitSender } from './send-window';
import { leaveToAnotherWorker } from './another-worker';
import { clearOf, redactorsOf } from './failures';
import { journalUnavailable } from './journal-failures';
import {
  claimTask,
  followDecision,
  giveUpOpen,
  isForeign,
  type KeyLog,
  openOrRetry,
  recordDecision,
} from './key-log';
import { adoptedAnswer, recordedAnswer, rejectedAnswer } from './paid-answers';
import { caller, type PaidDeps } from './paid-context';

/**
 * Writes a person's decision about a paid call of unknown fate into the journal (failure model: The log). Sends
 * nothing paid: an adoption reads the record of the task from the service once, and a resubmission only frees the key for the
 * next start of the same id. A decision that is carried out twice authorises one send.
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
    if (keepsNothing(journal))
      return refused('no_journal', 'This worker keeps no journal to write a decision into.');
    const who = caller();
    const key: JournalKey = { namespace: who.namespace, creationKey };
    const log = await openOrRetry(journal, key);
    const found = findNamed(log, { ...input, ...words });
    switch (found.is) {
      case 'repeated':
        // An attempt may have died right after it wrote the entry, so the rest is repeated.
        await followDecision(journal, log, found.decision);
        return resolved(input, found.at, videoAnswer(found.decision));
      case 'decided': {
        const { decision } = found;
        const stands = standing(found);
        return refused('already_decided', decidedMessage(decision), videoAnswer(decision), stands);
      }
      case 'another':
        return refused('already_decided', ANOTHER);
      case 'known':
        return refused('already_known', KNOWN, found.answer);
      case 'nothing':
        return refused('nothing_unconfirmed', NOTHING);
      case 'open':
        break;
    }
    const { at } = found;
    if (log.state.open === at) awaitSender(log.state, who.serverTime(), SENDER);
    const closed = log.state.open === at ? await giveUpOpen(journal, log) : log;
    // Its sender may have recorded its answer just now.
    const send = closed.state.sends[at] as Send;
    if (!isUnknown(send)) return refused('already_known', KNOWN);
    const made = await answerOf({ ...input, ...words }, { send, at, key }, deps);
    if ('refused' in made) return refused(made.refused, made.message);
    const { decision } = input;
    const entry = { about: send.sent.nonce, decision, ...words, answer: made.answer };
    await recordDecision(journal, closed, entry);
    return resolved(input, at, made.answer);
  };
}

type Found =
  | { readonly is: 'open'; readonly at: number }
  | { readonly is: 'repeated' | 'decided'; readonly at: number; readonly decision: DecisionEntry }
  /** Another send than the named one waits for a decision. */
  | { readonly is: 'another' }
  | { readonly is: 'known'; readonly answer: CreateVideoAnswer }
  | { readonly is: 'nothing' };

/** Finds the named send where it waits for a decision, else the reason why it does not. */
function findNamed({ state }: KeyLog, call: ResolveUnconfirmedCall): Found {
  const { sends, bought } = state;
  const isNamed = ({ sent }: Send) => sent.nonce === call.sendId;
  const isWaiting = (send: Send, at: number) => isUnknown(send) || state.open === at;
  const at = sends.findIndex((send, index) => isNamed(send) && isWaiting(send, index));
  if (at !== -1) return { is: 'open', at };
  // A late reply says more than the decision that came before it.
  const reply = bought === null ? undefined : sends[bought]?.answer?.answer;
  if (bought !== null && reply?.outcome === 'created')
    return { is: 'known', answer: recordedAnswer(state, bought) as CreateVideoAnswer };
  const named = decisionIn(sends, isNamed);
  if (named !== undefined) return { is: isRepeated(named.decision, call) ? 'repeated' : 'decided', ...named };
  if (sends.some(isWaiting)) return { is: 'another' };
  const last = decisionIn(sends, () => true);
  return last === undefined ? { is: 'nothing' } : { is: 'decided', ...last };
}

/** The newest decision about one of these sends. Images that were fetched later are no person's decision. */
function decisionIn(
  sends: readonly Send[],
  isMeant: (send: Send) => boolean,
): { readonly at: number; readonly decision: DecisionEntry } | undefined {
  const at = sends.findLastIndex(
    (send) => isMeant(send) && send.decision !== null && send.decision.answer?.outcome !== 'completed',
  );
  return at === -1 ? undefined : { at, decision: sends[at]?.decision as DecisionEntry };
}

const videoAnswer = ({ answer }: DecisionEntry): CreatedVideo | RejectedCall | null =>
  answer?.outcome === 'completed' ? null : answer;

/** Whether this very decision is recorded: an attempt that wrote it may have died, and a reset carries it out again. */
function isRepeated({ decision, by, reason, answer }: DecisionEntry, call: ResolveUnconfirmedCall): boolean {
  if (decision !== call.decision || by !== call.by || reason !== call.reason) return false;
  return decision !== 'adopt' || (answer?.outcome === 'created' && answer.video.taskId === call.taskId);
}

const standing = ({ at, decision }: Extract<Found, { is: 'repeated' | 'decided' }>): StandingDecision => ({
  sendId: decision.about,
  sendAttempt: at,
  decision: decision.decision,
  by: decision.by,
  at: decision.at,
});

const SENDER = {
  message: 'A sender of this call may still be alive; nothing is decided before it is certainly done.',
  everyMs: 5_000,
};

type Made =
  | { readonly answer: CreatedVideo | RejectedCall | null }
  | { readonly refused: UnresolvedReason; readonly message: string };

interface Named {
  readonly send: Send;
  readonly at: number;
  readonly key: JournalKey;
}

async function answerOf(input: ResolveUnconfirmedCall, named: Named, deps: PaidDeps): Promise<Made> {
  if (input.decision === 'resubmit') return { answer: null };
  if (input.decision === 'adopt') return adoption(input.taskId ?? '', named, deps);
  const { sent, answer } = named.send;
  const estimate = sent.kind === 'intent' ? sent.estimate : null;
  const base = { sendAttempt: named.at, sent: true, account: sent.account, estimate };
  // Lost results prove that it was paid for: no decision can undo that.
  if (answer?.answer.outcome === 'results_lost') {
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
async function adoption(taskId: string, { send: { sent }, at, key }: Named, deps: PaidDeps): Promise<Made> {
  const { journal } = deps;
  const no = (refused: UnresolvedReason, message: string): Made => ({ refused, message });
  if (sent.operation !== 'create_video')
    return no('no_task_to_adopt', 'An image call makes no task. Declare it lost, or resubmit it.');
  if (!isUsableTaskId(taskId)) return no('invalid_decision', 'taskId is not a valid task id.');
  const account = deps.accounts.find(sent.account);
  if (account === undefined) {
    leaveToAnotherWorker();
    return no(
      'account_not_configured',
      `This worker does not have the account ${sent.account}, which sent the create.`,
    );
  }
  const owners = await journal.findTask(taskId).catch((error: unknown) => {
    throw journalUnavailable(error);
  });
  if (owners.some((owner) => isForeign(owner, key, sent))) return no('task_of_another_key', FOREIGN);
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
  if (sent.model !== '' && reported?.model !== undefined && reported.model !== sent.model)
    return no(
      'task_of_another_key',
      'The service reports another model for this task than the create asked for.',
    );
  const lookup =
    sent.model === '' ? undefined : await (account.models ?? deps.models).lookup(sent.model, 'video');
  const polling = lookup?.found === 'entry' ? (lookup.entry as VideoModel).polling : undefined;
  const answer = adoptedAnswer(sent, at, taskId, status, polling);
  const ours = await claimTask(journal, key, sent, answer);
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

function decidedMessage({ decision, by, at }: DecisionEntry): string {
  return `${by} decided ${decision} at ${at}; a decision is final.`;
}

/** Cleans who decided and why for the journal, which is a diagnostic (C5.4a to C5.4c): people paste addresses. */
async function said(
  { by, reason }: ResolveUnconfirmedCall,
  { accounts }: PaidDeps,
): Promise<Pick<DecisionEntry, 'by' | 'reason'>> {
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
