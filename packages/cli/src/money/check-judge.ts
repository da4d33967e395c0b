import { type Money } from 'temporal-media';
import {
  type BillEntry,
  estimateOfSend,
  mayBeOwed,
  purchaseOf,
  type Send,
} from 'temporal-media/internal/domain/log-entries';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { idArgument, shellWord } from 'temporal-media/internal/domain/terminal-text';
import { fateOf, reviewReason, type SentCall, taskOf } from './calls';
import { type BilledCall, type Invoice } from './read-invoice';

/**
 * What a check finds, in the order in which it is shown, with its meaning. `true`: the invoice and the log differ.
 * `false`: worth knowing only.
 */
export const FINDINGS = {
  unknown: [true, 'billed, but not sent by this journal: another user of the key, or a lost send'],
  unconfirmed: [true, 'billed, but the log does not know that it was accepted'],
  refused: [true, 'billed, although it was refused or never sent'],
  failed: [true, 'billed, although it failed'],
  duplicate: [true, 'charged several times in this file'],
  billed_before: [true, 'already has another bill'],
  other_account: [true, 'bought with another account'],
  several_calls: [true, 'the log has several calls with this task'],
  other_currency: [true, 'the estimate is in another currency'],
  amount: [true, 'the amount differs from the estimate'],
  not_billed: [true, 'bought, but not billed'],
  without_task: [true, 'the line names no call'],
  image: [false, "the line may be an image's: nothing in the log says which"],
  other_namespace: [false, 'bought in another namespace'],
  under_review: [false, 'still without a bill'],
} as const satisfies { readonly [kind: string]: readonly [isDifference: boolean, meaning: string] };

export type FindingKind = keyof typeof FINDINGS;

export const FINDING_KINDS = Object.keys(FINDINGS) as readonly FindingKind[];

/** One line of the invoice, or one call of the log, that a person should look at. */
export interface CheckFinding {
  readonly finding: FindingKind;
  /** First line of the invoice; null for a call that it does not bill. */
  readonly line: number | null;
  readonly taskId: string | null;
  /** Null for a line that is not about a call of this namespace. */
  readonly creationKey: string | null;
  /** The send, for `money settle --send`. */
  readonly sendId: string | null;
  readonly account: string | null;
  readonly model: string | null;
  /** When it was sent, or else the time of the line, ISO 8601. */
  readonly at: string | null;
  /** Sum of its lines. */
  readonly billed: Money | null;
  /** The estimate, or the cost that the service reported. Null means unknown, never free. */
  readonly expected: Money | null;
  readonly note: string;
  /** Calls that may explain a line of no call. */
  readonly candidates?: readonly { readonly creationKey: string; readonly sendId: string }[];
}

/** What the sends of a journal are held against. */
export interface CheckScope {
  readonly namespace: string;
  /** Credential name, with or without its address's digest. Undefined for all accounts. */
  readonly account: string | undefined;
  /** Null if unknown. `until` is included. */
  readonly period: { readonly since: number; readonly until: number } | null;
  readonly invoice: Invoice;
  readonly reference: string;
  /** The reference of the bills that this invoice replaces. */
  readonly corrects: string | undefined;
  readonly tolerance: { readonly microUnits: number; readonly share: number };
  /** Whether a call that this invoice could bill but does not is recorded as free. */
  readonly missingAreFree: boolean;
  /** Whether a line that no call explains may be about one of these. None of them is free then. */
  readonly mayBill: { readonly images: boolean; readonly videos: boolean };
  /** Tasks that failed, according to reports of campaigns. */
  readonly failedTasks: ReadonlySet<string>;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** What a check says about one send. */
export interface CheckVerdict {
  readonly finding: CheckFinding | null;
  /** The bill to record; null if there is none, or it is recorded already. */
  readonly bill: { readonly microUnits: number; readonly reason: string } | null;
}

const NOTHING: CheckVerdict = { finding: null, bill: null };

/**
 * Returns the lines about a send: those with its task id, or else with its idempotency key or request id. Lines with its
 * key and another task are about something else that was bought under the key.
 */
export function billedLinesOf({ byTask, byKey }: Invoice, send: Send): BilledCall | undefined {
  const taskId = taskOf(send) ?? announcedTask(send);
  const found = taskId === null ? undefined : byTask.get(taskId);
  if (found !== undefined || byKey.size === 0) return found;
  return keysOf(send)
    .map((key) => byKey.get(key))
    .find((call) => call !== undefined && (taskId === null || call.taskId === null));
}

/** Returns the texts that an invoice can name a send by, besides its task. */
export function keysOf({ sent, answer }: Send): readonly string[] {
  const said = answer?.answer;
  const ids = said?.outcome === 'unconfirmed' ? Object.entries(said.evidence.headers) : [];
  const named = ids.flatMap(([name, value]) => (name.endsWith('request-id') ? [value] : []));
  return sent.kind === 'intent' ? [sent.idempotencyKey, ...named] : named;
}

/** The task that a sender's last heartbeat named, although its reply was not recorded. */
function announcedTask({ answer }: Send): string | null {
  const said = answer?.answer;
  return said?.outcome === 'unconfirmed' ? (said.evidence.taskId ?? null) : null;
}

export function isOfAccount({ sent }: Send, account: string | undefined): boolean {
  return account === undefined || sent.account === account || sent.account.startsWith(`${account}@`);
}

/** Holds one send of this namespace against the invoice. Pure. */
export function judgeSend(scope: CheckScope, call: SentCall): CheckVerdict {
  const lines = billedLinesOf(scope.invoice, call.send);
  if (!isOfAccount(call.send, scope.account))
    return underReview(scope, call, 'It was bought with an account that this check leaves out (--account).');
  return lines === undefined ? judgeUnbilled(scope, call) : judgeBilled(scope, call, lines);
}

function judgeBilled(scope: CheckScope, call: SentCall, lines: BilledCall): CheckVerdict {
  const { send } = call;
  const { currency } = scope.invoice;
  const charges = lines.charges > 1 && lines.sum > lines.largest ? `${lines.charges} lines charge it.` : '';
  const said = (finding: FindingKind, note = ''): CheckFinding =>
    findingOf(scope, call, finding, `${note} ${charges}`.trim(), lines);
  const owed = estimateOfSend(send) ?? send.bill;
  if (owed !== null && owed.currency !== currency)
    return { finding: said('other_currency', `Its estimate is in ${owed.currency}.`), bill: null };
  if (lines.owners > 1) return NOTHING;
  const earlier = earlierBill(scope, call, lines);
  if (earlier === 'agreed') return NOTHING;
  const finding = differenceOf(scope, call, lines, said);
  if (earlier === 'recorded') return { finding, bill: null };
  if (earlier !== null) return { finding: said('billed_before', earlier.note), bill: null };
  const more = lines.lines > 1 ? ` and ${lines.lines - 1} more` : '';
  return { finding, bill: { microUnits: lines.sum, reason: `money check, line ${lines.line}${more}` } };
}

function differenceOf(
  scope: CheckScope,
  call: SentCall,
  lines: BilledCall,
  said: (finding: FindingKind, note?: string) => CheckFinding,
): CheckFinding | null {
  const { tolerance, failedTasks, now } = scope;
  const { send } = call;
  const fate = fateOf(call, now);
  // Once the bill of a send that was repeated is recorded, nothing about it is left to decide.
  const isOver =
    fate === 'unconfirmed' && isResubmitted(send) && send.bill !== null && isOwn(scope, send.bill);
  if (!isOver && (fate === 'unconfirmed' || fate === 'declared_lost' || fate === 'in_flight'))
    return said('unconfirmed', undecidedNote(fate, send, lines));
  if (!isOver && fate !== 'created' && fate !== 'completed' && fate !== 'results_lost')
    return lines.sum > 0 ? said('refused', `The log says: ${fate}.`) : null;
  if (lines.sum > 0 && hasFailed(send, lines, failedTasks)) return said('failed');
  if (lines.charges > 1 && lines.sum > lines.largest) return said('duplicate');
  const expected = expectedFor(send);
  if (expected === null) return null;
  const allowed = Math.max(tolerance.microUnits, Math.abs(expected.microUnits) * tolerance.share);
  if (Math.abs(lines.sum - expected.microUnits) <= allowed) return null;
  return said('amount', creditNote(lines));
}

function creditNote({ sum, lines, charges }: BilledCall): string {
  if (sum < 0) return 'It is a credit: the sum is negative.';
  return lines > charges && charges > 0 ? 'It includes a credit.' : '';
}

function undecidedNote(
  fate: 'unconfirmed' | 'declared_lost' | 'in_flight',
  send: Send,
  { taskId }: BilledCall,
): string {
  const { sent } = send;
  if (fate === 'declared_lost') return 'A person declared it lost.';
  if (fate === 'in_flight') return 'Its sender may still be running. Check again later.';
  if (isResubmitted(send))
    return 'A person resubmitted it, and it is billed all the same. --apply records its bill; nothing is left to decide.';
  if (taskId === null || sent.operation !== 'create_video')
    return 'Its reply was lost. Decide with `temporal-media unconfirmed`.';
  return `Its reply was lost. Run: temporal-media unconfirmed adopt --reason WHY --send=${sent.nonce} ${idArgument(sent.creationKey)} ${shellWord(taskId)}`;
}

/** Whether a person had the call sent again. That decision is final, so nothing can be adopted for this send. */
export function isResubmitted({ decision }: Send): boolean {
  return decision?.decision === 'resubmit';
}

function hasFailed(
  send: Send,
  { taskId, hasFailed: saysSo }: BilledCall,
  failed: ReadonlySet<string>,
): boolean {
  const purchase = purchaseOf(send);
  return (
    saysSo || failed.has(taskId ?? '') || (purchase?.outcome === 'created' && purchase.status === 'failed')
  );
}

/** What a send should cost: the service's own report, or else the estimate. */
function expectedFor(send: Send): Money | null {
  return send.bill?.source === 'service'
    ? { microUnits: send.bill.microUnits, currency: send.bill.currency }
    : estimateOfSend(send);
}

type EarlierBill = 'recorded' | 'agreed' | { readonly note: string };

/**
 * How a bill in the log keeps this invoice's from being recorded: it is this one (`recorded`), or a person recorded the
 * same by hand (`agreed`), or it says something else (`note`). A service's own report is only compared, and a call that an
 * earlier file did not bill may be in a later one.
 */
function earlierBill(
  scope: CheckScope,
  { send: { bill }, bills }: SentCall,
  lines: BilledCall,
): EarlierBill | null {
  if (bill === null) return null;
  const hasOwn = bills.some((one) => isOwn(scope, one));
  if (bill.microUnits === lines.sum && bill.currency === scope.invoice.currency) {
    if (isOwn(scope, bill) || (hasOwn && bill.source === 'service')) return 'recorded';
    if (bill.source === 'person') return 'agreed';
  }
  const givesWay = bill.source === 'service' || isFree(bill) || isCorrected(scope, bill);
  if (givesWay && !hasOwn) return null;
  const advice = givesWay
    ? ` The log has a bill of ${scope.reference} already. To record this line, pass another --reference.`
    : bill.source === 'invoice'
      ? ` If this file replaces that one, pass --corrects ${shellWord(bill.reference)} and another --reference.`
      : '';
  return {
    note: `It has a bill of ${formatMoney(bill)}: ${bill.reference}, by ${bill.by} at ${bill.at}.${advice}`,
  };
}

/** Whether a bill is of this invoice. A send has one at most, also if a later bill counts. */
function isOwn({ reference }: CheckScope, bill: BillEntry): boolean {
  return bill.source === 'invoice' && bill.reference === reference;
}

/** Whether a bill is of the invoice that this one replaces. */
function isCorrected({ corrects }: CheckScope, { source, reference }: BillEntry): boolean {
  return source === 'invoice' && reference === corrects;
}

function judgeUnbilled(scope: CheckScope, call: SentCall): CheckVerdict {
  const { send } = call;
  const { invoice, missingAreFree, failedTasks, now } = scope;
  const why = reviewReason(call, now);
  const { bill } = send;
  const replaced = bill !== null && isCorrected(scope, bill) && !isFree(bill) ? bill : null;
  if (why === null && replaced === null) return NOTHING;
  const say = (note: string): CheckVerdict => underReview(scope, call, note);
  if (why === 'unconfirmed')
    return say(
      isResubmitted(send)
        ? 'A person resubmitted it, and nobody knows whether this send was accepted. Record what it cost with `money settle`.'
        : 'Nobody knows whether it was accepted. Decide with `temporal-media unconfirmed`.',
    );
  const beyond = beyondOf(scope, send, why);
  const { currency = null } = estimateOfSend(send) ?? replaced ?? {};
  const mayFree = missingAreFree && !call.bills.some((one) => isOwn(scope, one));
  if (beyond === null && mayFree && [null, invoice.currency].includes(currency)) return freed(scope, call);
  if (replaced !== null) {
    const note = `It still has a bill of ${formatMoney(replaced)}. ${beyond ?? ''}`.trim();
    return { finding: findingOf(scope, call, 'not_billed', note), bill: null };
  }
  if (beyond !== null) return say(beyond);
  if (why === 'rejected_after_validation') return say('It was refused, and the invoice does not bill it.');
  if (failedTasks.has(taskOf(send) ?? '')) return say('It failed, and the invoice does not bill it.');
  if (estimateOfSend(send)?.microUnits === 0)
    return say('Its estimate is 0, and the invoice does not bill it.');
  return { finding: findingOf(scope, call, 'not_billed', ''), bill: null };
}

/** Returns why the invoice could not bill a send, even if it was charged; null if it could. */
function beyondOf(
  { period, invoice }: CheckScope,
  send: Send,
  why: ReturnType<typeof reviewReason>,
): string | null {
  if (taskOf(send) === null && invoice.columns.key === undefined)
    return why === 'rejected_after_validation'
      ? 'It was refused, and the log has nothing that a line could name. Record what it cost with `money settle`.'
      : 'The log has nothing that a line could name an image by. Record what it cost with `money settle`.';
  if (period === null) return 'The period of the invoice is unknown. Pass --since and --until.';
  const at = Date.parse(send.sent.at);
  return at >= period.since && at <= period.until ? null : "It was sent outside of the invoice's period.";
}

function freed(scope: CheckScope, call: SentCall): CheckVerdict {
  const { images, videos } = scope.mayBill;
  if (!(call.send.sent.operation === 'create_video' ? videos : images)) return { finding: null, bill: FREE };
  return { finding: findingOf(scope, call, 'not_billed', MAYBE_BILLED), bill: null };
}

const MAYBE_BILLED =
  'A line that names no call may be about it. Compare them, then record what it cost with `money settle`.';
const FREE = { microUnits: 0, reason: 'money check --missing-are-free: not on the invoice' };

/** Whether a bill only says that a call was not on an invoice. */
function isFree({ source, microUnits, reason }: BillEntry): boolean {
  return source === 'invoice' && microUnits === FREE.microUnits && reason === FREE.reason;
}

/** Returns the finding for a call whose lines are about several calls. Which of them is billed is unknown. */
export function unclearCall(scope: CheckScope, call: SentCall): CheckFinding | null {
  const lines = billedLinesOf(scope.invoice, call.send);
  if (lines === undefined || lines.owners < 2 || !isOfAccount(call.send, scope.account)) return null;
  return findingOf(scope, call, 'several_calls', UNCLEAR, lines);
}

const UNCLEAR = 'Nothing was recorded. Check each account with --account, or use `money settle`.';

/** A call that no bill settles, unless nobody needs to look for one. */
function underReview(scope: CheckScope, call: SentCall, note: string): CheckVerdict {
  const isListed = reviewReason(call, scope.now) !== null;
  return { finding: isListed ? findingOf(scope, call, 'under_review', note) : null, bill: null };
}

function findingOf(
  { invoice, now }: CheckScope,
  call: SentCall,
  finding: FindingKind,
  note: string,
  lines?: BilledCall,
): CheckFinding {
  const { creationKey, nonce: sendId, account, model, at } = call.send.sent;
  const why = finding === 'under_review' ? `${reviewReason(call, now) ?? ''}: ` : '';
  return {
    finding,
    line: lines?.line ?? null,
    taskId: taskOf(call.send) ?? lines?.taskId ?? null,
    ...{ creationKey, sendId, account, model, at },
    billed: lines === undefined ? null : { microUnits: lines.sum, currency: invoice.currency },
    expected: expectedFor(call.send),
    note: `${why}${note}`,
  };
}

/** Whether a send may explain a line that the log does not know. */
export function mayExplain(call: SentCall, now: number): boolean {
  const fate = fateOf(call, now);
  return (
    ['unconfirmed', 'declared_lost', 'in_flight'].includes(fate) ||
    (fate === 'rejected' && mayBeOwed(call.send))
  );
}
