import { type CampaignLog, type CampaignRecord } from './campaign/book';
import { isJudged } from './make-outcome';
import {
  type CompletedImages,
  type CreatedVideo,
  type CreateVideoAnswer,
  type ImageCallAnswer,
  type RejectedCall,
} from './paid-call';
import { type Money } from './price';
import { type PaidRequest } from './request';
import { type HonouredKey } from './same-key';
import { type UnconfirmedDecision } from './unconfirmed-decision';
import { type VideoTask } from './video-task';

/** Whose epoch it is. Keys of different namespaces never meet. */
export interface JournalKey {
  readonly namespace: string;
  readonly creationKey: string;
}

/** Written before the send: from here on a request of this epoch may be on its way (failure model: The journal). No prompt, key or address. */
export interface SlotIntent {
  readonly v: 1;
  readonly kind: 'intent';
  /** Random; tells one sender from another. */
  readonly nonce: string;
  readonly operation: PaidRequest['operation'];
  readonly namespace: string;
  readonly creationKey: string;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly activityId: string;
  /** When the server scheduled this attempt of the activity, ISO 8601: tells attempts apart over a reset of the activity too. */
  readonly attemptAt?: string;
  /** Null where only another journal knew it: any request is then taken for the same. */
  readonly fingerprint: string | null;
  readonly bodyHash: string;
  readonly account: string;
  readonly model: string;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly referenceMode: string | null;
  readonly estimate: Money | null;
  /** The batch of a campaign out of whose money it is paid. */
  readonly payer?: string;
  /** Set where the call carries a key that its service is vouched to honour. */
  readonly idempotency?: HonouredKey;
  /** ISO 8601. */
  readonly at: string;
  /** ISO 8601 time after which this sender is certainly done: the time that its request may take, plus a margin. */
  readonly sendWindowEnd: string;
}

/** Taken instead of an intent: nobody can ever send in this epoch, which proves "not sent". */
export interface SlotFence {
  readonly v: 1;
  readonly kind: 'fence';
  readonly nonce: string;
  readonly at: string;
}

export type Slot = SlotIntent | SlotFence;

/** Whether an intent speaks of a send that it did not see: no body was hashed for it. */
export function isStandIn({ bodyHash }: SlotIntent): boolean {
  return bodyHash === '';
}

/** An answer that is worth recording: what one send came to. */
export type RecordedAnswer = Exclude<CreateVideoAnswer | ImageCallAnswer, { outcome: 'pending' }>;

export interface OutcomeRecord {
  readonly v: 1;
  readonly nonce: string;
  readonly at: string;
  readonly answer: RecordedAnswer;
}

/**
 * What somebody decided about an epoch whose fate was unknown: durable, one per epoch, never taken back. Images that were
 * lost and are fetched after all are adopted by the worker itself.
 */
export interface Resolution {
  readonly v: 1;
  readonly decision: UnconfirmedDecision;
  /** Tells a repetition of one decision from a second decision. */
  readonly decisionId: string;
  /** Who decided: a person, the inspector of task records, or a worker that has fetched lost images after all. */
  readonly by: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly at: string;
  /** What the epoch came to by this decision; null after `resubmit`, which opens the next epoch. */
  readonly answer: CreatedVideo | CompletedImages | RejectedCall | null;
}

export interface EpochView {
  readonly slot: Slot | null;
  readonly outcome: OutcomeRecord | null;
  readonly resolution?: Resolution | null;
}

/** Where a task id came from. */
export interface TaskIndexEntry {
  readonly v: 1;
  readonly namespace: string;
  readonly creationKey: string;
  readonly epoch: number;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly video: VideoTask;
}

/** One epoch in a journal. */
export interface JournalPlace extends JournalKey {
  readonly epoch: number;
}

export interface JournalPage {
  readonly keys: readonly { readonly epochs: readonly (EpochView & { readonly epoch: number })[] }[];
  /** Null after the last page. */
  readonly next: string | null;
}

/** Which journal this is, for the binding of a create task queue (architecture: Create). */
export interface JournalIdentity {
  readonly journalId: string;
  /** The one host that may use it; null when it is shared by design (S3). */
  readonly hostId: string | null;
}

/**
 * The record of paid sends. Every `put` is create-if-absent and durable when it returns (assumptions A1, A2).
 * Implementations throw when they cannot tell or cannot write; the caller then fails closed before a send.
 */
export interface CreateJournal {
  readonly kind: 'file' | 's3';
  identity(): Promise<JournalIdentity>;
  /** The 32 random bytes that seal what may rest in it for nobody else to read. As old as its name, and never told. */
  sealingKey(): Promise<Uint8Array>;
  /** Keeps a mark for ever. A ledger that knows a mark which its journal lacks knows that the journal was set back. */
  putMark(mark: string): Promise<void>;
  /** Whether this mark was put, by whomever. Never `false` for one whose `putMark` has returned anywhere. */
  hasMark(mark: string): Promise<boolean>;
  read(key: JournalKey, epoch: number): Promise<EpochView>;
  /** Throws for a later epoch where the one before it has no slot: the key was pruned since it was read. */
  putSlot(key: JournalKey, epoch: number, slot: Slot): Promise<'won' | 'lost'>;
  putOutcome(key: JournalKey, epoch: number, outcome: OutcomeRecord): Promise<'won' | 'lost'>;
  putResolution(key: JournalKey, epoch: number, resolution: Resolution): Promise<'won' | 'lost'>;
  /**
   * Every creation key, page by page in a stable order. What is written meanwhile may be left out.
   * `after` is the `next` of the page before, null for the first.
   */
  scan(after: string | null, limit: number): Promise<JournalPage>;
  /** Epochs with an intent for this very body that may still be open. A hint: what it names is read again. */
  findOpenByBody(bodyHash: string): Promise<readonly JournalPlace[]>;
  /** The fate of an epoch is known: `findOpenByBody` need not name it any more. Best effort. */
  forgetOpen(place: JournalPlace, bodyHash: string): Promise<void>;
  indexTask(entry: TaskIndexEntry): Promise<void>;
  /** Entries for a task id: one per account that has had a task of this id. */
  findTask(taskId: string): Promise<readonly TaskIndexEntry[]>;
  /** Records of campaigns stand beside the creation keys: neither `scan` nor a prune meets them. */
  readRecord(log: CampaignLog, n: number): Promise<CampaignRecord | null>;
  putRecord(log: CampaignLog, n: number, record: CampaignRecord): Promise<'won' | 'lost'>;
  checkWritable(): Promise<void>;
}

/** Who asks: the same run that recorded an answer gets it back as it is; a later run may go on after a proven refusal. */
export interface EpochAsker {
  readonly fingerprint: string | null;
  readonly runId: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether even the run that recorded a proven refusal may go on after it: image activities retry by themselves. */
  readonly reopenOwn?: boolean;
  /** A person wants this very request sent again after whatever refusal another run was told. */
  readonly again?: boolean;
  /** The attempt that asks: one that stood still never goes past what a later attempt of its activity was told. */
  readonly attempt?: Pick<SlotIntent, 'activityId' | 'attemptAt'>;
}

export type EpochDecision =
  | { readonly do: 'send' }
  | { readonly do: 'return'; readonly outcome: OutcomeRecord; readonly slot: SlotIntent | null }
  /** A proven refusal, or a decision to send again: this epoch is over and the next one may open. */
  | { readonly do: 'next_epoch' }
  | { readonly do: 'fenced' }
  | { readonly do: 'pending'; readonly slot: SlotIntent }
  /** Another request, that was or may have been accepted, holds the key; `view` is what is recorded of it. */
  | { readonly do: 'conflict'; readonly view: EpochView };

/** What one epoch's records mean for somebody who wants to send in it. Pure: the proof of create-once walks it. */
export function decideEpoch(view: EpochView, asker: EpochAsker): EpochDecision {
  const { slot, outcome } = view;
  if (slot?.kind === 'fence') return { do: 'fenced' };
  // An unreadable file cannot be hashed any more: nothing is sent anyway, and the first outcome is worth more.
  const [held, asked] = [slot?.fingerprint ?? null, asker.fingerprint];
  const isOther = held !== null && asked !== null && held !== asked;
  const isOver = outcome !== null && mayGoPast(slot, outcome.answer, asker, isOther);
  // What somebody decided about it was not decided about a request that is asked for now.
  if (isOther) return isOver && !view.resolution ? { do: 'next_epoch' } : { do: 'conflict', view };
  if (slot !== null && view.resolution && !isPaid(outcome?.answer)) {
    const { answer, decisionId, at } = view.resolution;
    return answer === null
      ? { do: 'next_epoch' }
      : { do: 'return', outcome: { v: 1, nonce: decisionId, at, answer }, slot };
  }
  if (outcome !== null) return isOver ? { do: 'next_epoch' } : { do: 'return', outcome, slot };
  return slot === null ? { do: 'send' } : { do: 'pending', slot };
}

/**
 * A refusal is the answer to one request: the corrected one goes past any, the same one only past those that may end by
 * themselves, or by a person's word. The run that was refused was told so, and stays where it is.
 */
function mayGoPast(
  slot: SlotIntent | null,
  answer: RecordedAnswer,
  asker: EpochAsker,
  isOther: boolean,
): boolean {
  const isOwn = slot !== null && slot.runId === asker.runId;
  const mayReopen = asker.reopenOwn === true ? !(isOwn && isOvertaken(slot, asker)) : slot !== null && !isOwn;
  if (!mayReopen) return false;
  return isOther || (asker.again === true && !isOwn)
    ? isRefusal(answer, asker.now)
    : isReopenable(answer, asker.now);
}

/** Whether a later attempt of the same activity has sent: its answer may have ended the call. */
function isOvertaken({ activityId, attemptAt }: SlotIntent, { attempt }: EpochAsker): boolean {
  // A time that nobody noted is no later one.
  const sentAt = (time: string | undefined) => Date.parse(time ?? '');
  return activityId === attempt?.activityId && sentAt(attemptAt) > sentAt(attempt?.attemptAt);
}

/**
 * Whether an asker that may not go past this epoch by itself may follow somebody who did: whoever has an intent beyond it
 * knew that nothing was accepted here, although the record of that was lost, or its clock says that a Retry-After is over,
 * or a person wanted the refused request sent again, or one after another request whose fate is unknown.
 */
export function mayFollow(view: EpochView, asker: EpochAsker): boolean {
  if (view.resolution?.decision === 'resubmit' && !isPaid(view.outcome?.answer)) return true;
  const inTime = decideEpoch(view, { ...asker, now: Infinity, again: true }).do;
  return inTime === 'next_epoch' || inTime === 'pending';
}

/**
 * Whether an epoch is behind a workflow that begins in a later one: it was told that what stood here is over, and went on
 * itself where that was not recorded. What else stands here was put here since, in a journal that lacked what it was told.
 */
export function isBehind({ slot, outcome, resolution }: EpochView, workflowId: string | null): boolean {
  if (slot === null || slot.kind === 'fence') return true;
  if (resolution) return resolution.decision === 'resubmit';
  if (outcome !== null) return isRefusal(outcome.answer, Infinity);
  return slot.workflowId === workflowId && !isStandIn(slot);
}

/**
 * A purchase that is known wins over every decision: an id that came late is never given up for another purchase. A
 * refusal that comes late is none: it would hide what was adopted, or bought in the next epoch, since the decision.
 */
export function isPaid(answer: RecordedAnswer | undefined): boolean {
  return answer?.outcome === 'created' || answer?.outcome === 'completed';
}

/** Whether this epoch may have cost something: it was bought, or nobody knows and nobody has declared it lost. */
export function mayHaveCost(view: EpochView): boolean {
  if (isPaid(view.outcome?.answer)) return true;
  if (!isOpenFate(view)) return false;
  const { resolution } = view;
  return !resolution || isPaid(resolution.answer ?? undefined);
}

/** Whether whoever paid for this epoch was charged for it: it was bought or its fate was open, whatever was decided since. */
export function wasCharged(view: EpochView): boolean {
  return isPaid(view.outcome?.answer) || isOpenFate(view) || isJudgedRefusal(view);
}

/** Whether money may be owed for this epoch: {@link mayHaveCost}, or the service judged its request and refused it (C7.10). */
export function mayBeOwed(view: EpochView): boolean {
  return mayHaveCost(view) || isJudgedRefusal(view);
}

function isJudgedRefusal({ outcome }: EpochView): boolean {
  return outcome?.answer.outcome === 'rejected' && isJudged(outcome.answer);
}

/** Whether a send may have been accepted in this epoch and nobody knows, or what was paid for is lost: a person may decide. */
export function isOpenFate({ slot, outcome }: EpochView): boolean {
  return slot?.kind === 'intent' && (outcome === null || isOpenAnswer(outcome.answer));
}

/** Whether a fate is open and nobody has decided about it. */
export function isUndecided(view: EpochView): boolean {
  return isOpenFate(view) && !view.resolution;
}

/** Whether what was recorded leaves it to a person to say what follows. */
export function isOpenAnswer(answer: RecordedAnswer): boolean {
  return answer.outcome === 'unconfirmed' || answer.outcome === 'results_lost';
}

/** Whether a recorded answer proves that nothing was accepted, and the service wants no more time (C8.7). */
export function isRefusal(answer: RecordedAnswer, now: number): boolean {
  switch (answer.outcome) {
    case 'not_sent':
      return true;
    case 'refused_for_now':
    case 'rejected':
      return (answer.notBefore ?? null) === null || Date.parse(answer.notBefore as string) <= now;
    default:
      return false;
  }
}

/** Whether asking for the same again can help after a refusal: a person mends credentials and quota (C7.1). */
export function isReopenable(answer: RecordedAnswer, now: number): boolean {
  if (!isRefusal(answer, now)) return false;
  return answer.outcome !== 'rejected' || MENDED_ELSEWHERE.has(answer.reason);
}

const MENDED_ELSEWHERE: ReadonlySet<RejectedCall['reason']> = new Set([
  'credentials',
  'quota',
  'capacity',
  'not_sent',
]);

/** Which journal a task queue belongs to (architecture: Create). */
interface JournalBinding {
  readonly journalId: string;
  /** Null for a journal that is shared by design; otherwise the one host that may use it. */
  readonly hostId: string | null;
}

/** What a worker says when it takes up a queue. */
export interface BindRequest extends JournalBinding {
  /** Id of its artifact store; null for a store that has none. */
  readonly artifacts: string | null;
  /** Accounts that it serves, with their digests. */
  readonly accounts: readonly string[];
  /** Of a moment in the life of the journal: it stands there already when it is told. Null where none is told. */
  readonly mark: string | null;
  /** Begins anew with this journal and this store: only after a person made sure that no worker uses other ones. */
  readonly rebind?: true;
}

/** What the ledger of a queue holds. */
export interface Ledger {
  readonly binding: JournalBinding;
  /** ISO 8601, the server's time: what was scheduled before it may have been sent on the word of another journal. */
  readonly boundSince: string;
  readonly artifacts: string | null;
  /** Of all workers since then, in the order in which they came. */
  readonly accounts: readonly string[];
  /** The last one that was told: a journal that lacks it was set back since. */
  readonly mark: string | null;
}

/** Input of the ledger workflow: what an earlier run of it held that was ended from outside. */
export interface MediaJournalInput {
  readonly carried: Ledger | null;
}

export type LedgerDifference = 'journal' | 'host' | 'artifacts';

/** How a worker with `request` differs from what the ledger holds; undefined when it may work. Pure. */
export function differenceOf(ledger: Ledger | null, request: BindRequest): LedgerDifference | undefined {
  if (ledger === null) return undefined;
  if (ledger.binding.journalId !== request.journalId) return 'journal';
  if (ledger.binding.hostId !== request.hostId) return 'host';
  const { artifacts } = ledger;
  return artifacts !== null && request.artifacts !== null && artifacts !== request.artifacts
    ? 'artifacts'
    : undefined;
}

/** The ledger after a request; the same one when it is refused or changes nothing. */
export function nextLedger(ledger: Ledger | null, request: BindRequest, at: string): Ledger {
  if (ledger === null || request.rebind === true) {
    const { journalId, hostId, artifacts, accounts, mark } = request;
    return { binding: { journalId, hostId }, boundSince: at, artifacts, accounts, mark };
  }
  if (differenceOf(ledger, request) !== undefined) return ledger;
  const artifacts = ledger.artifacts ?? request.artifacts;
  const added = request.accounts.filter((account) => !ledger.accounts.includes(account));
  const mark = request.mark ?? ledger.mark;
  if (added.length === 0 && artifacts === ledger.artifacts && mark === ledger.mark) return ledger;
  return { ...ledger, artifacts, accounts: [...ledger.accounts, ...added], mark };
}

/** Whether the journal of a worker is that of the queue on which an activity runs; `message` says why not and what to do. */
export type Standing =
  | { readonly bound: true; readonly journalId: string; readonly boundSince: string }
  | { readonly bound: false; readonly message: string };

/** Asks for the queue of the activity that runs: what was heard a minute ago at most, or anew. */
export type AskStanding = (how?: { readonly fresh?: boolean }) => Promise<Standing>;
