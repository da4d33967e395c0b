import { Context } from '@temporalio/activity';
import { batchLog, type BatchRecord, batchWorkflowId } from '../../domain/campaign/budget-book';
import {
  type BooksUnavailable,
  type CountBillsInput,
  type CountBillsResult,
  type FoldResultsInput,
  type RecordRowsInput,
  type SettleBatchInput,
  type SettleBatchResult,
  type SettledBatch,
} from '../../domain/campaign/campaign-activities';
import { type ResultsIndex } from '../../domain/campaign/results';
import { rowsOf } from '../../domain/campaign/row-sets';
import { type CreateJournal } from '../../domain/journal';
import {
  billedBeyondCharge,
  type IntentEntry,
  mayBeOwed,
  type Send,
  wasCharged,
} from '../../domain/log-entries';
import { mapConcurrently } from '../../domain/map-concurrently';
import { readSegment } from '../../manifest/result-lines';
import { ArtifactError, type ArtifactStore } from '../../stores/artifacts/artifact-store';
import { fenceBatch } from '../admission';
import { startHeartbeat } from '../heartbeat';
import { openLog } from '../key-log';
import { caller, type PaidDeps } from '../paid-context';
import { timeLeft } from '../send-window';
import { freeOfSend, noteFree, type SendKey, withBoundJournal } from './budget-book';
import { attemptsOf, type PageReader, READS_AT_ONCE, type StartedAttempt } from './open-page';

// Exported for callers that read a campaign's rows. It picks each row's valid line.
export { latestResults as campaignRows } from '../../manifest/result-lines';

/**
 * Implements `media.foldResults`: writes one artifact that lists many segments, so that no history has to list them.
 */
export function createFoldResults({ artifacts }: { readonly artifacts: Pick<ArtifactStore, 'putBuffer'> }) {
  return async ({ segments }: FoldResultsInput): Promise<{ readonly sha256: string }> => {
    const index: ResultsIndex = { v: 1, segments };
    const bytes = Buffer.from(JSON.stringify(index));
    const { sha256 } = await artifacts.putBuffer(bytes, { mediaType: 'application/json' });
    return { sha256 };
  };
}

/**
 * Implements `media.recordRows`: writes finished rows as a segment, an artifact of JSON lines. A repeated call writes
 * the same bytes under the same name.
 */
export function createRecordRows({ artifacts }: { readonly artifacts: Pick<ArtifactStore, 'putBuffer'> }) {
  return async ({ rows }: RecordRowsInput): Promise<{ readonly sha256: string }> => {
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const { sha256 } = await artifacts.putBuffer(Buffer.from(lines), { mediaType: 'application/jsonl' });
    return { sha256 };
  };
}

/**
 * Implements `media.settleBatch`: calculates the cost of a batch that can no longer report it. The batch is fenced
 * first, so nothing is sent in the meantime. The activity then waits for requests in flight. Heartbeats contain only
 * counts.
 */
export function createSettleBatch(
  deps: PaidDeps,
  pages: PageReader,
): (input: SettleBatchInput) => Promise<SettleBatchResult> {
  return ({ campaign, batch, segments }) =>
    withBoundJournal(deps, async (journal): Promise<SettledBatch | BooksUnavailable> => {
      const { namespace, now } = caller();
      const payer = batchWorkflowId(campaign, batch);
      await fenceBatch(journal, namespace, payer);
      const record = (await journal.readRecord(batchLog(namespace, payer), 0)) as BatchRecord | null;
      // The batch was never started. If its rows are written later, it still sends nothing.
      if (record === null) return { spent: 0, free: [] };
      const progress = { rows: 0, waiting: 0 };
      const beat = startHeartbeat(() => progress);
      try {
        const unpaid = await unpaidKeys(deps, segments);
        const free: string[] = [];
        const own: OwnSend[] = [];
        const paysFor = ({ sent }: Send) => sent.kind === 'intent' && sent.payer === payer;
        const log = { journal, pages, namespace, campaign };
        await readBatch(log, record, progress, ({ creationKey, sends }) => {
          const others = sends.filter((send) => send.sent.kind === 'intent' && !paysFor(send));
          if (unpaid.has(creationKey) && others.some(wasCharged)) free.push(creationKey);
          for (const [sendAttempt, send] of sends.entries())
            if (paysFor(send)) own.push({ key: { namespace, creationKey, sendAttempt }, send });
        });
        const ended = await outcomesOf(journal, own, progress, now);
        const { spent, returned } = await costOf(journal, payer, ended, unpaid);
        return { spent, free: [...free, ...returned] };
      } finally {
        beat.stop();
      }
    });
}

/** Number of rows per call, so that a lost worker loses little. */
const ROWS_PER_COUNT = 20_000;

/**
 * Implements `media.countBills`: adds up, from the journal, how much more than their charges the sends of some batches
 * cost according to their bills. Memory does not grow with the campaign.
 */
export function createCountBills(
  deps: PaidDeps,
  pages: PageReader,
): (input: CountBillsInput) => Promise<CountBillsResult> {
  return ({ campaign, from, until }) =>
    withBoundJournal(deps, async (journal): Promise<CountBillsResult> => {
      const { namespace } = caller();
      const progress = { batch: from, rows: 0 };
      const beat = startHeartbeat(() => progress);
      let billed = 0;
      let gone = 0;
      try {
        for (; progress.batch < until && progress.rows < ROWS_PER_COUNT; progress.batch += 1) {
          const payer = batchWorkflowId(campaign, progress.batch);
          const record = (await journal.readRecord(batchLog(namespace, payer), 0)) as BatchRecord | null;
          if (record === null) continue;
          const log = { journal, pages, namespace, campaign };
          const reading = readBatch(log, record, progress, async ({ creationKey, sends }) => {
            for (const [sendAttempt, send] of sends.entries()) {
              // A row may be in several batches. Each send counts for the batch that paid for it.
              if (send.bill === null || send.sent.kind !== 'intent' || send.sent.payer !== payer) continue;
              const free = await freeOfSend(journal, { namespace, creationKey, sendAttempt });
              billed += billedBeyondCharge(send, free !== null);
            }
          });
          // The pages of an earlier run under the campaign's ID may have been pruned.
          await reading.catch((error: unknown) => {
            if (!(error instanceof ArtifactError && error.code === 'not_found')) throw error;
            gone += 1;
          });
        }
        const next = progress.batch < until ? progress.batch : null;
        return { billed, next, ...(gone > 0 && { isPartial: true }) };
      } finally {
        beat.stop();
      }
    });
}

interface CampaignJournal {
  readonly journal: CreateJournal;
  readonly pages: PageReader;
  readonly namespace: string;
  readonly campaign: string;
}

/** Reads all attempts of a batch's rows, page by page. */
async function readBatch(
  { journal, pages, namespace, campaign }: CampaignJournal,
  record: BatchRecord,
  progress: { rows: number },
  onAttempt: (attempt: StartedAttempt) => void | Promise<void>,
): Promise<void> {
  for (const set of record.rows) {
    const { rows } = await pages.page(set);
    await mapConcurrently(rowsOf(set, rows), READS_AT_ONCE, async (row) => {
      for (const attempt of await attemptsOf(journal, namespace, campaign, row)) await onAttempt(attempt);
      progress.rows += 1;
    });
  }
}

/** A send that this batch pays for. */
interface OwnSend {
  readonly key: SendKey;
  readonly send: Send;
}

const intentOf = ({ send }: OwnSend): IntentEntry => send.sent as IntentEntry;

/**
 * Returns the creation keys whose attempts cost nothing according to the results. Each attempt's newest line is used.
 */
async function unpaidKeys(
  { artifacts }: Pick<PaidDeps, 'artifacts'>,
  segments: readonly string[],
): Promise<ReadonlySet<string>> {
  const unpaid = new Set<string>();
  for (const sha256 of segments)
    for (const { ledger } of await readSegment(artifacts, sha256))
      for (const { creationKey, state } of ledger)
        if (state === 'none') unpaid.add(creationKey);
        else unpaid.delete(creationKey);
  return unpaid;
}

/** Tolerated clock difference between two workers, in milliseconds. */
const MARGIN_MS = 1_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Waits until every send has an answer or its sender can no longer be running, then returns the sends. */
async function outcomesOf(
  journal: CreateJournal,
  own: readonly OwnSend[],
  progress: { waiting: number },
  now: () => number,
): Promise<readonly OwnSend[]> {
  const ended: OwnSend[] = [];
  let waiting = own;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const isOver = (one: OwnSend): boolean =>
      one.send.answer !== null || timeLeft(one.send, now()) < -MARGIN_MS;
    const [over, open] = [waiting.filter(isOver), waiting.filter((one) => !isOver(one))];
    ended.push(...over);
    progress.waiting = open.length;
    if (open.length === 0) return ended;
    await Context.current().sleep(pauseMs);
    const again: OwnSend[] = [];
    await mapConcurrently(open, READS_AT_ONCE, async ({ key, send }) => {
      const { state } = await openLog(journal, key);
      // A send still counts if the journal has lost it in the meantime.
      again.push({ key, send: state.sends[key.sendAttempt] ?? send });
    });
    waiting = again;
  }
}

/**
 * Adds up the batch's charges, leaving out those that are known to have cost nothing. `returned` are the keys of those
 * that have a bill nevertheless, which counts in full from now on.
 */
async function costOf(
  journal: CreateJournal,
  payer: string,
  own: readonly OwnSend[],
  unpaid: ReadonlySet<string>,
): Promise<{ readonly spent: number; readonly returned: readonly string[] }> {
  let spent = 0;
  const returned: string[] = [];
  await mapConcurrently(own, READS_AT_ONCE, async (one) => {
    const { key, send } = one;
    if (!wasCharged(send)) return;
    const free = await freeOfSend(journal, key);
    // An earlier attempt of this activity, whose result was lost, may have left this charge out.
    const isLeftOut = free?.by === payer && !free.deducts;
    if (free !== null && !isLeftOut) return;
    if (isLeftOut || !mayBeOwed(send) || unpaid.has(key.creationKey)) {
      await noteFree(journal, key, { by: payer, deducts: false });
      if (send.bill !== null) returned.push(key.creationKey);
    } else spent += intentOf(one).estimate?.microUnits ?? 0;
  });
  return { spent, returned };
}
