import { type JsonValue, type Money } from 'temporal-media';
import { given } from 'temporal-media/internal/domain/json';
import {
  type BillEntry,
  estimateOfSend,
  isDeclaredUnaccepted,
  isPaid,
  type LogEntry,
  mayBeOwed,
  purchaseOf,
  type RecordedAnswer,
  type Send,
} from 'temporal-media/internal/domain/log-entries';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { type KeyState, stateOf } from 'temporal-media/internal/domain/paid-log';
import { existingJournal } from 'temporal-media/internal/stores/open-stores';
import { type CreateJournal, type JournalPage } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';
import { type CommandContext } from '../shared/context';
import { badInput, CliError } from '../shared/errors';
import { textTable } from '../shared/progress-view';
import { shownLocation } from '../shared/text';

/** The journal that bills are recorded in, and the namespace whose keys are meant. */
export interface Place {
  readonly journal: CreateJournal;
  readonly namespace: string;
  readonly config: MediaConfig;
  readonly env: NodeJS.ProcessEnv;
}

/** Times in milliseconds since the Unix epoch: at or after `since`, before `until`. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

/** One send of a call, with the state of its key. */
export interface SentCall {
  readonly state: KeyState;
  readonly send: Send;
  /** Number of the send under its key, from 0. */
  readonly at: number;
  /** All bills of the send in the log, oldest first. Only the newest counts (`send.bill`). */
  readonly bills: readonly BillEntry[];
}

/** Opens the workers' journal. @throws CliError `journal_unusable` if this machine has none, ConfigurationError */
export async function openPlace(
  config: MediaConfig,
  namespace: string,
  env: NodeJS.ProcessEnv,
): Promise<Place> {
  const journal = await existingJournal(config);
  if (journal !== undefined) return { journal, namespace, config, env };
  throw new CliError('journal_unusable', `This machine has no journal at ${shownLocation(config.journal)}.`, {
    hint: 'Run this where the worker runs, with its MEDIA_JOURNAL or --data-dir.',
  });
}

/** A store lists about as many names for a page, however few of them are used. */
const LOGS_PER_PAGE = 1_000;

/** Yields the logs of the journal, page by page. Only one page is in memory. @throws CliError `journal_unusable` */
export async function* logPages({ journal }: Pick<Place, 'journal'>): AsyncGenerator<JournalPage['logs']> {
  let after: string | null = null;
  do {
    const { logs, next }: JournalPage = await orUnusable(journal.scan(after, LOGS_PER_PAGE));
    yield logs;
    after = next;
  } while (after !== null);
}

/** Returns the sends of a key, oldest first. */
export function callsOf(log: readonly LogEntry[]): readonly SentCall[] {
  const state = stateOf(log);
  const bills = log.filter((entry): entry is BillEntry => entry.kind === 'bill');
  return state.sends.map((send, at) => ({
    ...{ state, send, at },
    bills: bills.filter(({ about }) => about === send.sent.nonce),
  }));
}

/**
 * Yields the sends of each key that were made in the period. @throws CliError `journal_unusable`
 * @param place with `namespace: null` for the sends of all namespaces
 */
export async function* callsIn(
  { journal, namespace }: Pick<Place, 'journal'> & { readonly namespace: string | null },
  { since, until }: Period,
): AsyncGenerator<readonly SentCall[]> {
  const isMeant = ({ send: { sent } }: SentCall): boolean =>
    // A send with an unreadable time is in every period, rather than in none.
    (namespace === null || sent.namespace === namespace) &&
    !(Date.parse(sent.at) < since) &&
    !(Date.parse(sent.at) >= until);
  for await (const logs of logPages({ journal }))
    for (const log of logs) {
      const calls = callsOf(log).filter((call) => isMeant(call));
      if (calls.length > 0) yield calls;
    }
}

/** Rejects with the reason that a record could not be read. @throws CliError `journal_unusable` */
export function orUnusable<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    const { name, message } = error as Error;
    throw name === 'JournalRecordError' ? new CliError('journal_unusable', message) : error;
  });
}

/** Longest text of a bill. */
const LONGEST = 500;

/** Checks the words that a person enters about a bill, by option. @throws CliError `bad_input` */
export function checkWords(words: { readonly [option: string]: string | undefined }, hint: string): void {
  for (const [field, text] of Object.entries(words))
    if (text !== undefined && (text.trim() === '' || text.length > LONGEST))
      throw badInput([{ field, message: `must have 1 to ${LONGEST} characters.` }], hint);
}

/** What became of a send: its purchase or answer, or why nobody knows. */
type Fate = RecordedAnswer['outcome'] | 'declared_lost' | 'in_flight';

/** Returns what became of a send. `in_flight` ends with the time that its sender has. */
export function fateOf({ state, send, at }: SentCall, now: number): Fate {
  const purchase = purchaseOf(send);
  if (purchase !== undefined) return purchase.outcome;
  const { sent, answer } = send;
  if (isDeclaredUnaccepted(send)) return 'declared_lost';
  if (answer !== null) return answer.answer.outcome;
  const isOpen = state.open === at && sent.kind === 'intent' && Date.parse(sent.sendWindowEnd) > now;
  return isOpen ? 'in_flight' : 'unconfirmed';
}

/**
 * Why a call is under review:
 * - `unconfirmed`: it is unknown whether the service accepted it, and nobody declared it lost.
 * - `results_lost`: the service charged it, and its results were lost.
 * - `rejected_after_validation`: the service refused it after validating it, and may have charged it.
 * - `not_billed`: it was bought, and nobody has recorded a bill yet.
 */
type ReviewReason = 'unconfirmed' | 'results_lost' | 'rejected_after_validation' | 'not_billed';

/** Returns why a person must look for the bill of a send, or null if there is one, or nothing can be owed. */
export function reviewReason(call: SentCall, now: number): ReviewReason | null {
  const { send } = call;
  const said = send.answer?.answer;
  if (send.bill !== null || fateOf(call, now) === 'in_flight') return null;
  if (purchaseOf(send) !== undefined) return 'not_billed';
  // They were paid for, also if a person gave them up.
  if (said?.outcome === 'results_lost') return 'results_lost';
  if (!mayBeOwed(send)) return null;
  return said?.outcome === 'rejected' ? 'rejected_after_validation' : 'unconfirmed';
}

/** Returns the service's usage report of a send: its numbers alone, because texts may repeat a prompt. */
function recordedUsage({ answer }: Send): JsonValue | undefined {
  const said = answer?.answer;
  if (said === undefined || !(isPaid(said) || said.outcome === 'results_lost')) return undefined;
  return 'usage' in said && said.usage !== undefined ? numbersIn(said.usage) : undefined;
}

function numbersIn(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const parts = Object.entries(value).flatMap(([name, inner]) => {
    const numbers = /^\w{1,60}$/.test(name) ? numbersIn(inner) : undefined;
    return numbers === undefined ? [] : [[name, numbers] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

/** Returns the task that a send created, or null for images and unknown tasks. */
export function taskOf(send: Send): string | null {
  const purchase = purchaseOf(send);
  return purchase?.outcome === 'created' ? purchase.video.taskId : null;
}

/** A send that may have cost money and has no bill. */
interface CallUnderReview {
  readonly creationKey: string;
  /** The send, for `money settle --send`. */
  readonly sendId: string;
  readonly operation: string;
  /** Null for images, and while it is unknown. */
  readonly taskId: string | null;
  readonly account: string;
  readonly model: string;
  /** When it was sent, ISO 8601. */
  readonly since: string;
  readonly why: ReviewReason;
  /** Null means unknown, never free. */
  readonly estimate: Money | null;
  /** The numbers of the service's usage report, if one was recorded. */
  readonly usage?: JsonValue;
}

/** Lists the oldest calls under review. Keeps twice `limit` calls in memory at most. */
export async function reviewCalls(
  { report }: CommandContext,
  place: Place,
  period: Period,
  limit: number,
): Promise<void> {
  const now = Date.now();
  const found: CallUnderReview[] = [];
  let [total, scanned] = [0, 0];
  for await (const calls of callsIn(place, period)) {
    scanned += 1;
    for (const call of calls) {
      const { send } = call;
      const why = reviewReason(call, now);
      if (why === null) continue;
      const { creationKey, nonce: sendId, operation, account, model, at: since } = send.sent;
      const facts = { creationKey, sendId, operation, taskId: taskOf(send), account, model, since, why };
      found.push({ ...facts, estimate: estimateOfSend(send), ...given({ usage: recordedUsage(send) }) });
      total += 1;
    }
    if (found.length >= 2 * limit) keepOldest(found, limit);
  }
  keepOldest(found, limit);
  if (found.length > 0) for (const line of textTable(tableOf(found))) report.result(line);
  report.say(
    total === 0
      ? `No calls are under review. Checked ${scanned} creation keys in the journal.`
      : `${total} calls are under review${total > found.length ? `; these are the ${found.length} oldest` : ''}. Record a bill with: temporal-media money settle KEY --amount AMOUNT --reference BILL --reason WHY`,
  );
  report.reply({ ok: true, data: { underReview: found, total, scanned } });
}

function keepOldest(found: CallUnderReview[], limit: number): void {
  found.sort((one, other) => (one.since < other.since ? -1 : 1));
  found.length = Math.min(found.length, limit);
}

function tableOf(found: readonly CallUnderReview[]): readonly (readonly string[])[] {
  const head = ['KEY', 'TASK', 'ACCOUNT', 'MODEL', 'SINCE', 'WHY', 'ESTIMATE', 'USAGE'];
  const rows = found.map(({ creationKey, taskId, account, model, since, why, estimate, usage }) => [
    creationKey,
    taskId ?? '-',
    account,
    model,
    since,
    why,
    estimate === null ? 'unknown' : formatMoney(estimate),
    usage === undefined ? '-' : JSON.stringify(usage),
  ]);
  return [head, ...rows];
}
