import { LRUCache } from 'lru-cache';
import { otherwise } from '../../domain/bug';
import { batchLog, type CampaignRecord } from '../../domain/campaign/budget-book';
import {
  type OpenedPage,
  type OpenedRow,
  type OpenPageInput,
  type PageAddress,
  type RowSpec,
} from '../../domain/campaign/campaign-activities';
import { type PlanIndex } from '../../domain/campaign/plan';
import { type CampaignPage, type CampaignRow } from '../../domain/campaign/row';
import { isBooked } from '../../domain/campaign/row-result';
import { unpackRows } from '../../domain/campaign/row-sets';
import { rowCreationKey } from '../../domain/creation-key';
import { type CreateJournal } from '../../domain/journal';
import { given } from '../../domain/json';
import { type IntentEntry, type JournalKey, mayHaveCost, type Send } from '../../domain/log-entries';
import { mapConcurrently } from '../../domain/map-concurrently';
import { type CreatedVideo, type NotSent } from '../../domain/paid-call';
import { referenceModeOf } from '../../domain/request';
import { readJson } from '../../manifest/result-lines';
import { type ArtifactStore } from '../../stores/artifacts/artifact-store';
import { ownsBatch } from '../admission';
import { indexCreated, openLog } from '../key-log';
import { type AnswerBase, unsentAnswer } from '../paid-answers';
import { caller, type Caller, type PaidDeps } from '../paid-context';
import { isFirstTry, isUnsent, type KnownCall } from '../unknown-sends';

interface OpenPageDeps {
  readonly pages: PageReader;
  readonly journal: CreateJournal;
}

/**
 * Implements `media.openPage`: returns what a batch needs to know about a page's rows, including what the journal has
 * recorded about them. Prompts, sources and model-specific fields stay in the artifact, because this result becomes
 * part of a history.
 */
export function createOpenPage({ pages, journal }: OpenPageDeps) {
  return async ({ index, page, campaign, rows: packed, payer }: OpenPageInput): Promise<OpenedPage> => {
    const { rows } = await pages.page({ index, page });
    if (payer !== undefined) {
      // This must precede reading the journal: from here on, no other run of this batch sends anything.
      const { namespace, runId } = caller();
      if (!(await ownsBatch(journal, namespace, payer, runId))) return { specs: [], rows: [], closed: true };
    }
    const only = packed === undefined ? undefined : unpackRows(packed);
    const isNeeded = (position: number) => only?.has(position) !== false;
    const started =
      campaign === undefined
        ? []
        : await startedOfRows(journal, campaign, rows, (_, position) => isNeeded(position));
    const numbers = new Map<string, number>();
    const specs: RowSpec[] = [];
    const opened = rows.map((row, position): OpenedRow | null => {
      if (!isNeeded(position)) return null;
      const spec = specOf(row);
      const name = JSON.stringify(spec);
      const number = numbers.get(name) ?? specs.push(spec) - 1;
      numbers.set(name, number);
      const { line, key, content, attempt, rebought, changed, was } = row;
      return {
        row: row.row,
        line,
        key,
        content,
        spec: number,
        ...(attempt > 0 && { attempt }),
        ...(rebought === true && { rebought }),
        ...(changed === true && { changed }),
        ...(was !== undefined && { was }),
        ...started[position]?.started,
      };
    });
    const created = await createdOf(journal, { index, page }, started);
    return { specs, rows: opened, ...(created.length > 0 && { created }) };
  };
}

/**
 * Returns the videos that this plan's batches have bought. There may also be an earlier purchase under a row's key,
 * with different text. Also indexes each video by its ID, because a process may have been killed right after it
 * recorded the outcome.
 */
async function createdOf(
  journal: CreateJournal,
  { index, page }: PageAddress,
  started: readonly StartedRow[],
): Promise<NonNullable<OpenedPage['created']>> {
  const payers = new Map<string, Promise<CampaignRecord | null>>();
  const recordOf = ({ namespace }: JournalKey, payer: string) => {
    const reading = payers.get(payer) ?? journal.readRecord(batchLog(namespace, payer), 0);
    payers.set(payer, reading);
    return reading;
  };
  const found: (readonly [number, CreatedVideo])[] = [];
  await mapConcurrently(started.entries(), READS_AT_ONCE, async ([position, { created }]) => {
    if (created?.intent.payer === undefined) return;
    const { key, video, intent } = created;
    const record = await recordOf(key, created.intent.payer);
    if (record?.kind !== 'batch' || !record.rows.some((set) => set.index === index && set.page === page))
      return;
    await indexCreated(journal, key, video, intent);
    found.push([position, video]);
  });
  return found;
}

function specOf({ call, account, estimate, labels }: CampaignRow): RowSpec {
  const video = call.operation === 'create_video' ? call.request : undefined;
  return {
    operation: call.operation,
    model: call.request.model,
    account: account ?? null,
    durationSeconds: video?.durationSeconds ?? null,
    resolution: video?.resolution ?? null,
    referenceMode: video === undefined ? null : referenceModeOf(video.references),
    estimate,
    ...given({ labels }),
  };
}

export interface PageReader {
  /**
   * Rejects with an `ArtifactError` if the store cannot read the page, and with a `RangeError` if the plan does not
   * contain it.
   */
  page(address: PageAddress): Promise<CampaignPage>;
}

/**
 * Maximum total number of characters in all cached pages: several hundred pages with short prompts, or dozens with long
 * ones.
 */
const KEPT_CHARACTERS = 8 * 1024 * 1024;
/** Maximum number of plan indexes in memory. The index of a plan with a million rows takes about 1.5 MB. */
const KEPT_INDEXES = 8;

/** Reads plan pages and caches recent ones, because every batch reads its pages again. */
export function createPageReader(artifacts: Pick<ArtifactStore, 'read'>): PageReader {
  const indexes = new LRUCache<string, PlanIndex>({
    max: KEPT_INDEXES,
    fetchMethod: (sha256) => readJson<PlanIndex>(artifacts, sha256),
    ignoreFetchAbort: true,
  });
  const pages = new LRUCache<string, CampaignPage>({
    maxSize: KEPT_CHARACTERS,
    // Every page must fit in the cache, even if it is larger than the limit.
    sizeCalculation: (page) => Math.min(JSON.stringify(page).length, KEPT_CHARACTERS),
    fetchMethod: (sha256) => readJson<CampaignPage>(artifacts, sha256),
    ignoreFetchAbort: true,
  });
  return {
    async page({ index, page }) {
      const plan = await indexes.forceFetch(index);
      const entry = plan.pages[page];
      if (entry === undefined) throw new RangeError(`The plan has no page ${page}.`);
      return pages.forceFetch(entry.sha256);
    },
  };
}

type Started = Pick<OpenedRow, 'started' | 'bought' | 'since'>;

/** What was started for a row, and its video if there was only one create. */
interface StartedRow {
  readonly started: Started;
  readonly created?: {
    readonly key: JournalKey;
    readonly video: CreatedVideo;
    readonly intent: IntentEntry;
  };
}

/** A started attempt for a row, with its sends. `sends` is empty if its sender was only fenced. */
export interface StartedAttempt {
  readonly attempt: number;
  readonly creationKey: string;
  readonly sends: readonly Send[];
}

/** Returns every attempt that was started for a row. Attempt numbers have no gaps, and each attempt leaves an entry. */
export async function attemptsOf(
  journal: CreateJournal,
  namespace: string,
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought' | 'attempt'>,
): Promise<readonly StartedAttempt[]> {
  const attempts: StartedAttempt[] = [];
  for (let { attempt } = row; ; attempt++) {
    const creationKey = rowCreationKey(campaign, row, attempt);
    const { entries, state } = await openLog(journal, { namespace, creationKey });
    if (entries.length === 0) return attempts;
    attempts.push({ attempt, creationKey, sends: state.sends });
  }
}

/**
 * Reads what another batch, or an earlier run without known results, has started for a row.
 * @throws when the journal cannot be read: a row that was already bought must not count as new
 */
export async function startedBefore(
  journal: CreateJournal,
  namespace: string,
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought' | 'attempt' | 'was'>,
): Promise<StartedRow> {
  let started: number | undefined;
  let since: string | undefined;
  let bought = 0;
  const attempts = await attemptsOf(journal, namespace, campaign, row);
  for (const { attempt, creationKey, sends } of attempts) {
    started = attempt;
    since = sends.at(-1)?.sent.at;
    if (sends.some(mayHaveCost) && !isBooked(row.was?.ledger ?? [], creationKey)) bought += 1;
  }
  if (started === undefined) return { started: {} };
  const created = onlyCreated(namespace, attempts);
  return {
    started: {
      started,
      ...(bought > 0 && { bought }),
      ...(since !== undefined && { since }),
    },
    ...(created !== undefined && { created }),
  };
}

/** Returns a row's video if exactly one request was accepted and no decision was made about it. */
function onlyCreated(
  namespace: string,
  [first, ...others]: readonly StartedAttempt[],
): StartedRow['created'] {
  const [only, ...later] = first?.sends ?? [];
  if (first === undefined || only === undefined || others.length > 0 || later.length > 0) return undefined;
  const { sent, answer, decision } = only;
  if (sent.kind !== 'intent' || answer?.answer.outcome !== 'created' || decision !== null) return undefined;
  const key = { namespace, creationKey: first.creationKey };
  return { key, video: { ...answer.answer, sent: false }, intent: sent };
}

/** Whether something may have been bought with this fingerprint under a row's first key. */
export async function isFirstText(
  journal: CreateJournal,
  key: JournalKey,
  fingerprint: string | null,
): Promise<boolean> {
  const { state } = await openLog(journal, key);
  return state.sends.some((send) => send.sent.fingerprint === fingerprint && mayHaveCost(send));
}

/** Number of rows read from the journal concurrently. */
export const READS_AT_ONCE = 16;

/**
 * Runs {@link startedBefore} for the rows that need it. The result is indexed by position and empty for the other rows.
 */
async function startedOfRows(
  journal: CreateJournal,
  campaign: string,
  rows: readonly CampaignRow[],
  isNeeded: (row: CampaignRow, position: number) => boolean,
): Promise<StartedRow[]> {
  const { namespace } = caller();
  const started: StartedRow[] = rows.map(() => ({ started: {} }));
  await mapConcurrently(rows.entries(), READS_AT_ONCE, async ([position, row]) => {
    if (isNeeded(row, position)) started[position] = await startedBefore(journal, namespace, campaign, row);
  });
  return started;
}

const UNREADABLE = 'The campaign page that contains this request cannot be read. Nothing was sent.';

/**
 * Returns the answer for a row whose request cannot be read, so nothing is sent now. Returns undefined if something may
 * have been sent under its key before, in this journal or another one: such a call must never be reported as unsent
 * (C4.4c).
 */
export async function withoutPage(
  deps: Pick<PaidDeps, 'journal'>,
  who: Caller,
  row: KnownCall,
  base: AnswerBase,
): Promise<NotSent | undefined> {
  if (!(await isUnsent(deps, who, row).catch(otherwise(isFirstTry(who, row))))) return undefined;
  const { binding } = row.sender;
  return binding.bound
    ? unsentAnswer(base, 'page_unavailable', UNREADABLE)
    : unsentAnswer(base, 'journal_not_bound', binding.message);
}
