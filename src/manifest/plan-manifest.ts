import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type CampaignPlan, type PlanCampaignInput, type PlanRefusal } from '../domain/campaign/plan';
import { type ArtifactRef } from '../domain/request';
import { DEFAULT_CREDENTIAL } from '../domain/names';
import { type ModelSource } from '../models/model-source';
import { type ValidatedRow, validatedRows } from './validate-rows';
import { keyHash } from './keys';
import { ManifestHeaderError, ManifestUnreadableError } from './manifest-text';
import { ModelSnapshot } from './model-snapshot';
import { emptyIndex, IssueLog, PageWriter, type PlanSink } from './page-writer';
import { PlanTally, refusedPlan } from './plan-result';
import { type IsBought, type IsFirstText, PreviousResults } from './previous-results';
import { createSourceLookup } from './sources';

export interface PlanManifestOptions extends Omit<PlanCampaignInput, 'manifest'> {
  /** The bytes of the manifest from their beginning; asked twice with a sample. */
  readonly open: () => Promise<AsyncIterable<Uint8Array>> | AsyncIterable<Uint8Array>;
  readonly format?: 'csv' | 'jsonl';
  readonly models: Pick<ModelSource, 'lookup'>;
  /** Holds artifacts that rows name, and earlier results. */
  readonly store: Pick<ArtifactStore, 'read' | 'has'>;
  /** Takes pages, index and issues; a dry run gives one that keeps nothing. */
  readonly sink: PlanSink;
  /** A file beside the manifest as an artifact; undefined when it cannot be read or is no media. @default none is read */
  readonly file?: (path: string) => Promise<ArtifactRef | undefined>;
  /** Whether there is a credential of this name. @default every name passes */
  readonly knowsAccount?: (name: string) => boolean;
  /** Whether what is bought is written down. Without that nothing may be sent: a batch that is repeated would buy again. @default true */
  readonly hasJournal?: boolean;
  /** Asked of rows that have a result and that nobody asks for. @default nobody can say */
  readonly isBought?: IsBought;
  /** Asked of rows that were bought with a text that no results name. @default nobody can say */
  readonly isFirstText?: IsFirstText;
  readonly signal?: AbortSignal;
  /** Told now and then. */
  readonly onProgress?: (progress: PlanProgress) => void;
}

export interface PlanProgress {
  /** Lines of earlier results that were read. */
  readonly results: number;
  /** Rows of the manifest, counted again in a second reading. */
  readonly rows: number;
}

/** Rows after which others may run and cancellation is looked at. */
const SLICE = 200;
/** Keys that a plan names. */
const SHOWN_KEYS = 20;

/**
 * Reads a manifest of any size, validates every row by one state of the model configuration, joins it with earlier results
 * and writes pages of what is to be done. The same for a worker and for a dry run; sends nothing.
 * Memory does not grow with prompts: 16 to 32 bytes per row with an id, twice that without, 32 to 64 more for each row
 * with an earlier result.
 * @throws ModelsDownError, ArtifactError, and the reason of `signal`
 */
export async function planManifest(options: PlanManifestOptions): Promise<CampaignPlan> {
  const { store, campaign, previous, signal, sink } = options;
  const progress = { results: 0, rows: 0 };
  const step = async (): Promise<void> => {
    options.onProgress?.({ ...progress });
    await breathe();
    signal?.throwIfAborted();
  };
  const earlier = await PreviousResults.load(store, campaign, previous, async (lines) => {
    progress.results += lines;
    await step();
  });
  const models = new ModelSnapshot(options.models);
  const sources = createSourceLookup(store, options.file ?? (() => Promise.resolve(undefined)));
  const digests: string[] = [];

  /** One reading of the manifest: the rows, validated and joined. */
  async function* reading(): AsyncGenerator<ValidatedRow> {
    const digest = createHash('sha256');
    const bytes = await options.open();
    let rows = 0;
    for await (const row of validatedRows(hashed(bytes, digest), {
      ...options,
      models,
      sources,
      earlier,
      knowsAccount: options.knowsAccount ?? (() => true),
    })) {
      yield row;
      rows += 1;
      progress.rows += 1;
      if (rows % SLICE === 0) await step();
    }
    digests.push(digest.digest('hex'));
    if (digests.length === 2 && digests[0] !== digests[1])
      throw new ManifestUnreadableError('The manifest changed while it was read.');
  }

  const work = new PlanWork(options);
  try {
    if (options.sample !== undefined) work.threshold = await sampleThreshold(reading(), options.sample);
    for await (const row of reading()) await work.add(row);
    return await work.finish(digests.at(-1) ?? '');
  } catch (error) {
    await work.abandon();
    if (error instanceof ManifestUnreadableError)
      return refusedPlan(options, digests[0], sink, {
        reason: 'manifest_unreadable',
        message: error.message,
      });
    if (error instanceof ManifestHeaderError) {
      const refusal = { reason: 'invalid_rows', message: error.message } as const;
      return refusedPlan(options, digests[0], sink, refusal, error.issues);
    }
    throw error;
  }
}

async function* hashed(
  bytes: AsyncIterable<Uint8Array>,
  digest: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    digest.update(chunk);
    yield chunk;
  }
}

/** What a plan comes to, row by row. */
class PlanWork {
  threshold = Infinity;
  readonly #issues: IssueLog;
  readonly #pages: PageWriter;
  readonly #tally = new PlanTally();
  readonly #changedKeys: string[] = [];
  /** A row relies on the credential of the campaign. */
  #needsAccount = false;
  #counts = { rows: 0, done: 0, left: 0, invalid: 0, changed: 0, taken: 0 };

  constructor(private readonly options: PlanManifestOptions) {
    this.#issues = new IssueLog(options.sink);
    this.#pages = new PageWriter(options.sink);
  }

  async add(validated: ValidatedRow): Promise<void> {
    this.#counts.rows += 1;
    switch (validated.kind) {
      case 'invalid':
        this.#counts.invalid += 1;
        return this.#issues.add(validated.issues);
      case 'stands':
        this.#counts.done += 1;
        return;
      case 'not_asked':
        return;
      case 'taken':
        break;
    }
    const { row, call, price, hasTask } = validated;
    this.#needsAccount ||= row.account === undefined;
    const isChanged = row.changed === true;
    const now = isChanged || this.#hasRoom(row.key);
    if (isChanged) {
      this.#counts.changed += 1;
      if (this.#changedKeys.length < SHOWN_KEYS) this.#changedKeys.push(row.key);
    } else if (!hasTask) this.#tally.add(call, price, now);
    if (!now) {
      this.#counts.left += 1;
      return;
    }
    if (!isChanged) {
      this.#counts.taken += 1;
      if (hasTask) this.#tally.addStarted(price);
      if (row.was !== undefined) this.#tally.addBooked(row.was.ledger);
    }
    // Nothing will be sent: what follows is only read for more issues.
    if (this.options.onInvalid === 'fail' && this.#counts.invalid > 0) return;
    await this.#pages.add(row);
  }

  #hasRoom(key: string): boolean {
    const { limit = Infinity, sample = Infinity } = this.options;
    return this.#counts.taken < Math.min(limit, sample) && sampleRank(key) <= this.threshold;
  }

  async finish(manifest: string): Promise<CampaignPlan> {
    const { options } = this;
    const { rows, done, left, invalid, changed } = this.#counts;
    const refused = this.#refusal();
    const written = await this.#pages.finish();
    const isRefused = refused !== undefined;
    const issuesFile = await this.#issues.finish();
    return {
      v: 1,
      generation: options.generation,
      manifest,
      rows,
      planned: isRefused ? 0 : this.#pages.planned,
      done,
      left,
      invalid,
      issues: this.#issues.first,
      issuesFile,
      changed: { rows: changed, keys: this.#changedKeys },
      pages: isRefused ? 0 : written.pages,
      index: isRefused ? await emptyIndex(options.sink) : written.index,
      currency: this.#tally.currency,
      estimate: this.#tally.estimate,
      unpriced: this.#tally.unpriced,
      started: this.#tally.started,
      booked: this.#tally.booked,
      models: this.#tally.models,
      ...(isRefused && { refused }),
    };
  }

  async abandon(): Promise<void> {
    await this.#issues.abandon();
    await this.#pages.settle();
  }

  #refusal(): PlanRefusal | undefined {
    if (this.options.hasJournal === false) return NO_JOURNAL;
    const { rows, invalid } = this.#counts;
    if (invalid > 0 && this.options.onInvalid === 'fail')
      return {
        reason: 'invalid_rows',
        message: `${invalid} of ${rows} rows are not valid, so nothing is sent. Correct them, or leave them out with onInvalid "skip".`,
      };
    if (rows === invalid)
      return {
        reason: 'no_rows',
        message: rows === 0 ? 'The manifest has no rows.' : 'The manifest has no valid row.',
      };
    const { account = DEFAULT_CREDENTIAL, knowsAccount, budget } = this.options;
    if (this.#needsAccount && knowsAccount?.(account) === false)
      return {
        reason: 'account_not_configured',
        message: 'The worker has no credential of the name that the campaign gives.',
      };
    return this.#tally.refusal(budget);
  }
}

const NO_JOURNAL: PlanRefusal = {
  reason: 'no_journal',
  message:
    'The worker has no create journal (journal: "none"), so nobody could tell which rows were bought before. Give it one: a folder or a store that all workers of the task queue share.',
};

/** Where a key stands in an order that depends on nothing but the key: 52 bits of its hash. */
function sampleRank(key: string): number {
  const { high, low } = keyHash(key);
  return high * 2 ** 20 + (low >>> 12);
}

/** Rank of the last row of a sample of this size; 8 bytes per row that could be taken. */
async function sampleThreshold(rows: AsyncIterable<ValidatedRow>, size: number): Promise<number> {
  let ranks = new Float64Array(1024);
  let count = 0;
  for await (const validated of rows) {
    if (validated.kind !== 'taken' || validated.row.changed === true) continue;
    if (count === ranks.length) {
      const larger = new Float64Array(ranks.length * 2);
      larger.set(ranks);
      ranks = larger;
    }
    ranks[count++] = sampleRank(validated.row.key);
  }
  if (count <= size) return Infinity;
  return ranks.subarray(0, count).sort()[size - 1] ?? -1;
}
