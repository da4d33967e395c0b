import { createHash, hash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { type CampaignPlan, type PlanCampaignInput, type PlanRefusal } from '../domain/campaign/plan';
import { type CampaignRow } from '../domain/campaign/row';
import { DEFAULT_CREDENTIAL } from '../domain/names';
import { type ArtifactRef } from '../domain/request';
import { type ModelSource } from '../settings/model-source';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';
import { ManifestHeaderError, ManifestUnreadableError } from './manifest-text';
import { emptyIndex, IssueLog, PageWriter, type PlanSink } from './page-writer';
import { PlanTally, refusedPlan } from './plan-result';
import { type IsBought, type IsFirstText, PreviousResults } from './previous-results';
import { createSourceLookup, ModelSnapshot } from './row-lookups';
import { type Unaddressable, type ValidatedRow, validatedRows } from './validate-rows';

export interface PlanManifestOptions extends Omit<PlanCampaignInput, 'manifest'> {
  /** Opens the manifest from its first byte. Called twice with `sample`. */
  readonly open: () => Promise<AsyncIterable<Uint8Array>> | AsyncIterable<Uint8Array>;
  readonly format?: 'csv' | 'jsonl';
  readonly models: Pick<ModelSource, 'lookup'>;
  /** Returns the model configuration for an account that has its own. @default `models` for every account */
  readonly modelsOf?: (account: string) => Pick<ModelSource, 'lookup'>;
  /** The store with artifacts that rows reference and with earlier results. */
  readonly store: Pick<ArtifactStore, 'read' | 'has'>;
  /** Receives pages, index and issues. A dry run passes a store that discards them. */
  readonly sink: PlanSink;
  /** Stores a file from the manifest's folder; undefined if it is unreadable or not media. @default no file is read */
  readonly file?: (path: string) => Promise<ArtifactRef | undefined>;
  /** Whether there is a credential with this name. @default true for every name */
  readonly knowsAccount?: (name: string) => boolean;
  /** Whether only other workers have this account, so its rows' cost and limits are unknown here. @default false */
  readonly isElsewhere?: (account: string) => boolean;
  /** Returns the reason if an account's service cannot reach an artifact. @default every artifact is reachable */
  readonly unaddressable?: Unaddressable;
  /**
   * Whether purchases are recorded. If not, nothing is sent: a repeated batch would buy its rows again. @default true
   */
  readonly hasJournal?: boolean;
  /** Called for rows with a result that get no new attempt in this plan. @default unknown */
  readonly isBought?: IsBought;
  /** Called for bought rows whose results do not show which text was bought. @default unknown */
  readonly isFirstText?: IsFirstText;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PlanProgress) => void;
}

export interface PlanProgress {
  /** How many lines of earlier results were read. */
  readonly results: number;
  /** How many manifest rows were read. A second pass counts them again. */
  readonly rows: number;
}

/** The planner yields to the event loop and checks for cancellation after this many rows. */
const SLICE = 200;
const MOST_ELSEWHERE = 20;
const SHOWN_KEYS = 20;

/**
 * Reads a manifest of any size, validates every row against one version of the model configuration, joins the rows with
 * earlier results, and writes pages with the rows to run. Used by workers and dry runs; sends nothing. Memory use does
 * not depend on the length of the prompts: at most 250 bytes per row, and as much again for an earlier result.
 * @throws ModelsDownError, ArtifactError, and the abort reason of `signal`
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
  const models = snapshots(options);
  const sources = createSourceLookup(store, options.file ?? (() => Promise.resolve(undefined)));
  const digests: string[] = [];

  /** Reads the manifest once and yields its rows, validated and joined with earlier results. */
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
      isElsewhere: options.isElsewhere ?? (() => false),
    })) {
      yield row;
      rows += 1;
      progress.rows += 1;
      if (rows % SLICE === 0) await step();
    }
    digests.push(digest.digest('hex'));
    if (digests.length === 2 && digests[0] !== digests[1])
      throw new ManifestUnreadableError('The manifest changed while it was being read.');
  }

  const work = new PlanWork(options);
  try {
    if (options.sample !== undefined) work.threshold = await sampleThreshold(reading(), options.sample);
    for await (const row of reading()) await work.add(row);
    return await work.finish(digests.at(-1) ?? '');
  } catch (error) {
    await work.abandon();
    const refused = (reason: PlanRefusal['reason'], { message }: Error, issues?: CampaignPlan['issues']) =>
      refusedPlan(options, digests[0], sink, { reason, message }, issues);
    if (error instanceof ManifestUnreadableError) return refused('manifest_unreadable', error);
    if (error instanceof ManifestHeaderError) return refused('invalid_rows', error, error.issues);
    throw error;
  }
}

/** Returns each account's model configuration, which is read only once. */
function snapshots({ account: common, models, modelsOf }: PlanManifestOptions) {
  const ofSource = new Map<Pick<ModelSource, 'lookup'>, ModelSnapshot>();
  const ofAccount = new Map<string, ModelSnapshot>();
  return (account: string = common ?? DEFAULT_CREDENTIAL): ModelSnapshot => {
    const known = ofAccount.get(account);
    if (known !== undefined) return known;
    const source = modelsOf?.(account) ?? models;
    const snapshot = ofSource.get(source) ?? new ModelSnapshot(source);
    ofSource.set(source, snapshot);
    ofAccount.set(account, snapshot);
    return snapshot;
  };
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

class PlanWork {
  threshold = Infinity;
  readonly #issues: IssueLog;
  readonly #pages: PageWriter;
  readonly #tally = new PlanTally();
  readonly #changedKeys: string[] = [];
  /** Whether a row uses the campaign's credential. */
  #needsAccount = false;
  /** Other workers' accounts that were already reported. */
  readonly #elsewhere = new Set<string>();
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
    const { row, call, price, isElsewhere, hasTask } = validated;
    this.#needsAccount ||= row.account === undefined;
    const elsewhere = isElsewhere ? row.account : undefined;
    if (elsewhere !== undefined) await this.#noteElsewhere(elsewhere, row);
    const isChanged = row.changed === true;
    const now = isChanged || this.#hasRoom(row.key);
    if (isChanged) {
      this.#counts.changed += 1;
      if (this.#changedKeys.length < SHOWN_KEYS) this.#changedKeys.push(row.key);
    } else if (!hasTask) this.#tally.add(call, price, now, elsewhere);
    if (!now) return void (this.#counts.left += 1);
    if (!isChanged) {
      this.#counts.taken += 1;
      if (hasTask) this.#tally.addStarted(price);
      if (row.was !== undefined) this.#tally.addBooked(row.was.ledger);
    }
    // Nothing will be sent. The remaining rows are only checked for more issues.
    if (this.options.onInvalid === 'fail' && this.#counts.invalid > 0) return;
    await this.#pages.add(row);
  }

  /** Reports each account that only other workers have, once per plan. All other issues concern single rows. */
  async #noteElsewhere(account: string, { line }: CampaignRow): Promise<void> {
    if (this.#elsewhere.has(account) || this.#elsewhere.size >= MOST_ELSEWHERE) return;
    this.#elsewhere.add(account);
    const message = `Only another worker has account ${JSON.stringify(account)}. The planning worker does not know what its rows cost. They are validated when they are bought.`;
    await this.#issues.add([{ line, column: 'account', message }]);
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
        message: `${invalid} of ${rows} rows are invalid, so nothing is sent. Fix them, or skip them with onInvalid "skip".`,
      };
    if (rows === invalid)
      return {
        reason: 'no_rows',
        message: rows === 0 ? 'The manifest has no rows.' : 'The manifest has no valid rows.',
      };
    const { account = DEFAULT_CREDENTIAL, knowsAccount, budget } = this.options;
    if (this.#needsAccount && knowsAccount?.(account) === false)
      return {
        reason: 'account_not_configured',
        message: "The worker does not have the campaign's credential (account).",
      };
    return this.#tally.refusal(budget);
  }
}

const NO_JOURNAL: PlanRefusal = {
  reason: 'no_journal',
  message:
    'The worker has no create journal (journal: "none"), so it cannot know which rows were bought before. Configure a journal in a folder or a store that all workers of the task queue share.',
};

/** A key's rank in a pseudo-random order: 52 bits of its hash. */
function sampleRank(key: string): number {
  return parseInt(hash('sha256', key, 'hex').slice(0, 13), 16);
}

/** The rank of the last row in a sample of this size. */
async function sampleThreshold(rows: AsyncIterable<ValidatedRow>, size: number): Promise<number> {
  const ranks: number[] = [];
  for await (const validated of rows)
    if (validated.kind === 'taken' && validated.row.changed !== true)
      ranks.push(sampleRank(validated.row.key));
  if (ranks.length <= size) return Infinity;
  return ranks.sort((a, b) => a - b)[size - 1] ?? -1;
}
