import { mayRetry } from '../end-of-wait';
import { given } from '../json';
import { type ImageOutcome, type VideoOutcome } from '../outcome';
import { type ErrorKind } from '../video-task';
import { type OpenedRow, type RowSpec } from './campaign-activities';
import { addMoney, cheaper, NO_MONEY, type MoneyTotals, type SegmentTotals } from './results';
import { type CampaignRowResult, type LedgerLine, type RowFailure, type RowOutcome } from './row';

/** Facts about a row besides its outcome. */
export interface RowFacts extends Pick<
  CampaignRowResult,
  'generation' | 'page' | 'index' | 'attempt' | 'ledger'
> {
  readonly opened: OpenedRow;
  readonly spec: RowSpec;
  readonly creationKey: string;
  /** Workflow time in milliseconds; null if the row was never started. */
  readonly startedAt: number | null;
}

type Described = Omit<
  CampaignRowResult,
  'outcome' | 'artifacts' | 'warnings' | 'ledger' | 'taskId' | 'createdAt' | 'polls'
>;

function described(facts: RowFacts, finishedAt: number): Described {
  const { opened, spec, generation, page, index, attempt, startedAt } = facts;
  const { row, line, key, content } = opened;
  const { operation, model, account, durationSeconds, resolution, referenceMode, labels } = spec;
  return {
    row,
    line,
    key,
    content,
    generation,
    page,
    index,
    operation,
    model,
    attempt,
    ...(opened.rebought === true && { rebought: true }),
    account,
    ...given({ labels }),
    requested: { durationSeconds, resolution, referenceMode },
    startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
  };
}

/** Builds a result line from the outcome of a single call. Pure. Times are workflow time in milliseconds. */
export function rowResult(
  facts: RowFacts,
  outcome: VideoOutcome | ImageOutcome,
  finishedAt: number,
): CampaignRowResult {
  const video = 'video' in outcome ? outcome.video : null;
  return {
    ...described(facts, finishedAt),
    account: video?.account ?? facts.spec.account,
    outcome: outcome.outcome,
    taskId: video?.taskId ?? null,
    createdAt: video?.createdAt ?? null,
    artifacts: artifactsOf(outcome),
    ...reasonOf(outcome),
    ...('reported' in outcome && { reported: outcome.reported }),
    ...(outcome.billing.usage !== undefined && { usage: outcome.billing.usage }),
    warnings: 'warnings' in outcome ? outcome.warnings : [],
    polls: pollsOf(outcome),
    ledger: withAttempt(
      facts,
      paidAttempt(facts, outcome, video?.taskId ?? null),
      outcome.outcome === 'rejected' && UNASKED.includes(outcome.reason),
    ),
  };
}

/** Builds the result of a row that this plan did not buy. Earlier purchases stay in its `ledger`. */
export function unboughtResult(
  facts: RowFacts,
  outcome: RowOutcome,
  message: string,
  finishedAt: number,
): CampaignRowResult {
  return {
    ...described(facts, finishedAt),
    outcome,
    taskId: facts.ledger.at(-1)?.taskId ?? null,
    createdAt: null,
    artifacts: [],
    message,
    warnings: [],
    polls: 0,
    ledger: facts.ledger,
  };
}

/**
 * Whether a row automatically gets another attempt. A row is retried only if the service lacked capacity. Moderation,
 * invalid requests and quota are final.
 */
export function mayHaveAnotherAttempt({ outcome, reason, errorKind }: RowFailure): boolean {
  if (outcome === 'failed') return mayRetry((errorKind ?? 'unknown') as ErrorKind);
  return outcome === 'rejected' && (reason === 'capacity' || reason === 'retry_later');
}

/** Rejections that occur before the journal is read, or because the key belongs to another request. */
const UNASKED: readonly string[] = ['not_sent', 'account_not_configured', 'creation_key_conflict'];

function paidAttempt(
  { attempt, creationKey, spec }: Pick<RowFacts, 'attempt' | 'creationKey' | 'spec'>,
  { outcome, billing: { estimate, actual, state } }: VideoOutcome | ImageOutcome,
  taskId: string | null,
): LedgerLine {
  // Without an estimate, the bill may be in another currency than the campaign's amounts.
  const billed = estimate === null ? null : actual;
  return {
    attempt,
    creationKey,
    taskId,
    outcome,
    estimate: estimate ?? spec.estimate,
    actual: billed,
    state,
  };
}

/**
 * Returns the row's `ledger` with this attempt's line. A resumed attempt keeps a single line. An `unasked` rejection
 * does not replace a line, because it proves nothing about earlier sends under the key.
 */
function withAttempt(
  { ledger }: Pick<RowFacts, 'ledger'>,
  line: LedgerLine,
  unasked: boolean,
): readonly LedgerLine[] {
  if (unasked && isBooked(ledger, line.creationKey)) return ledger;
  return [...ledger.filter(({ creationKey }) => creationKey !== line.creationKey), line];
}

function artifactsOf(outcome: VideoOutcome | ImageOutcome): CampaignRowResult['artifacts'] {
  if ('artifact' in outcome) return [outcome.artifact];
  return 'images' in outcome ? outcome.images.flatMap((image) => image ?? []) : [];
}

function pollsOf(outcome: VideoOutcome | ImageOutcome): number {
  if ('watch' in outcome) return outcome.watch.polls;
  return 'polls' in outcome ? outcome.polls : 0;
}

function reasonOf(
  outcome: VideoOutcome | ImageOutcome,
): Pick<CampaignRowResult, 'reason' | 'errorKind' | 'message' | 'httpStatus'> {
  switch (outcome.outcome) {
    case 'completed':
    case 'cancelled':
      return {};
    case 'still_running':
      return { message: `Still running at its deadline. Last status: ${outcome.lastStatus ?? 'unknown'}.` };
    case 'failed':
      return {
        errorKind: outcome.error.kind,
        ...(outcome.error.code !== null && { reason: outcome.error.code }),
        ...(outcome.error.message !== null && { message: outcome.error.message }),
      };
    case 'unconfirmed': {
      const { cause, httpStatus, kind } = outcome.evidence;
      return {
        reason: cause,
        message: outcome.message,
        ...(httpStatus !== null && { httpStatus }),
        ...(kind !== null && { errorKind: kind }),
      };
    }
    case 'task_unknown':
      return { message: outcome.message };
    case 'content_unavailable':
    case 'results_lost':
    case 'rejected': {
      const { reason, message } = outcome;
      return {
        reason,
        message,
        ...('httpStatus' in outcome &&
          outcome.httpStatus !== undefined && { httpStatus: outcome.httpStatus }),
        ...('error' in outcome && outcome.error !== undefined && { errorKind: outcome.error.kind }),
      };
    }
  }
}

/** Sums the money of attempts. Skips attempts that provably bought nothing, and counts attempts without a price. */
export function moneyOfAttempts(ledger: readonly LedgerLine[]): MoneyTotals {
  return ledger.reduce((sum, { estimate, actual, state }): MoneyTotals => {
    if (state === 'none') return sum;
    if (estimate === null) return addMoney(sum, { ...NO_MONEY, unknown: 1 });
    const field = state === 'needs_review' ? 'needsReview' : state;
    const bill = actual === null ? {} : { actual, billed: 1 };
    return addMoney(sum, { ...NO_MONEY, [field]: actual ?? estimate, estimate, ...bill });
  }, NO_MONEY);
}

/** Whether the cost of an attempt with this key is already counted. */
export function isBooked(attempts: readonly LedgerLine[], creationKey: string): boolean {
  return attempts.some((line) => line.creationKey === creationKey && line.state !== 'none');
}

/** Returns the rows' contribution to their campaign's totals. `was` is a row's earlier result. */
export function totalsOf(
  rows: readonly {
    readonly result: CampaignRowResult;
    readonly was: OpenedRow['was'] | undefined;
    readonly estimate: number | null;
  }[],
): Omit<SegmentTotals, 'segments'> {
  const counts: { [outcome in RowOutcome]?: number } = {};
  const replaced: { [outcome in RowOutcome]?: number } = {};
  let money = NO_MONEY;
  let cheapestSkipped: number | null = null;
  for (const { result, was, estimate } of rows) {
    if (result.outcome === 'skipped_budget') cheapestSkipped = cheaper(cheapestSkipped, estimate);
    counts[result.outcome] = (counts[result.outcome] ?? 0) + 1;
    money = addMoney(money, moneyOfAttempts(result.ledger));
    if (was === undefined) continue;
    replaced[was.outcome] = (replaced[was.outcome] ?? 0) + 1;
    money = addMoney(money, moneyOfAttempts(was.ledger), -1);
  }
  return { counts, replaced, money, cheapestSkipped };
}
