import { Runtime, type Worker } from '@temporalio/worker';
import { createMediaActivities } from '../activities/create-media-activities';
import { type TaskRecords } from '../activities/paid-context';
import { pollInThread } from '../activities/poll-in-thread';
import { outOfReach } from '../activities/sources';
import { WatchRecovery } from '../activities/watchers';
import { type MediaActivities } from '../domain/activities';
import { otherwise } from '../domain/bug';
import { type CreateJournal } from '../domain/journal';
import { type Metrics } from '../domain/metrics';
import { baseTaskQueue } from '../domain/names';
import { type AccountSet } from '../settings/account-set';
import { type AccountOptions } from '../settings/accounts';
import { floatingJournal, type MediaConfig } from '../settings/config';
import { createModelSource, type ModelSource } from '../settings/model-source';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';
import { ephemeralJournal, openArtifactStore, openJournal, schemeOf } from '../stores/open-stores';
import { measuredJournal, runtimeMetrics, showNoFailures } from './telemetry';

/** Options that replace or extend the configuration. */
export interface PartsOptions extends Partial<WorkerStores> {
  /** Accounts in addition to MEDIA_BASE_URL and MEDIA_ACCOUNTS. @default none */
  readonly accounts?: readonly AccountOptions[];
  /** Settles unconfirmed creates without a person. Requires a service that can list its tasks. @default none */
  readonly taskRecords?: TaskRecords;
  /**
   * Whether polls run in a separate thread, so that creates and downloads never delay them.
   * @default true; false keeps them in the main thread, where process hooks can see them
   */
  readonly pollThread?: boolean;
}

/** A worker's activities and the resources that they use. */
export interface MediaParts extends WorkerStores {
  readonly activities: MediaActivities;
  /** Account names (credential and address digest) at startup. MEDIA_ACCOUNTS may change later. */
  readonly accounts: readonly string[];
  /** Call this when the worker starts to run. Reports what the worker serves and searches for closed watchers. */
  begin(worker: Pick<Worker, 'client' | 'options'>): void;
  /** Closes the connections to the service. Call this once no activity is running. */
  close(): Promise<void>;
}

/** Opens the stores and creates the activities. @throws ConfigurationError */
export async function makeParts(
  options: PartsOptions,
  config: MediaConfig,
  accounts: AccountSet,
): Promise<MediaParts> {
  const opened = await openWorkerStores(options, config);
  const metrics = runtimeMetrics();
  const stores = { ...opened, journal: measuredJournal(opened.journal, metrics) };
  const polls =
    options.pollThread === false
      ? undefined
      : pollInThread({ connections: config.pollConnections }, (account) => accounts.access(account));
  const recovery = new WatchRecovery(metrics);
  const models = createModelSource({ location: config.models, unknownModels: config.unknownModels });
  const activities = createMediaActivities({
    ...stores,
    accounts,
    models,
    policy: config.policy,
    taskRecords: options.taskRecords,
    inputRoots: config.inputRoots,
    createsPerSecond: config.createsPerSecond,
    pollConcurrency: config.pollConnections,
    pollVideos: polls?.pollVideos,
    polling: config.polling,
    recovery,
    metrics,
  });
  let sampling: NodeJS.Timeout | undefined;
  return {
    ...stores,
    activities,
    accounts: accounts.names(),
    begin: ({ client, options: { taskQueue } }) => {
      if (client !== undefined) recovery.resume(client, baseTaskQueue(taskQueue));
      void warnOutOfReach(stores.artifacts, accounts, models).catch(({ name }: Error) => {
        // The worker keeps running, no matter what a store throws.
        Runtime.instance().logger.error(`The check whether references can be sent failed (${name})`);
      });
      sample(metrics, accounts, stores.journal);
      // Repeated, because the accounts may change.
      sampling ??= setInterval(() => sample(metrics, accounts, stores.journal), SAMPLE_MS).unref();
    },
    close: async () => {
      clearInterval(sampling);
      recovery.close();
      metrics.close();
      await Promise.all([accounts.close(), polls?.close()]);
    },
  };
}

/** Warns before anything is paid for if an account's service cannot reach references. */
async function warnOutOfReach(
  store: WorkerStores['artifacts'],
  accounts: AccountSet,
  models: ModelSource,
): Promise<void> {
  for (const account of accounts.all()) {
    const listed = await (account.models ?? models).all().catch(otherwise(undefined));
    const found = await outOfReach(store, listed ?? [], account.client.baseUrl).catch(otherwise(undefined));
    if (found !== undefined)
      Runtime.instance().logger.warn(`References to files cannot be sent to ${found}`, {
        account: account.name,
      });
  }
}

const SAMPLE_MS = 10_000;

/**
 * Reports what the worker serves, and reports failure counters as 0, because an increase is invisible without a first
 * value.
 */
function sample(metrics: Metrics, accounts: AccountSet, journal: CreateJournal): void {
  const names = accounts.names();
  metrics.record('accountsServed', names.length, {});
  for (const account of names) metrics.record('unconfirmed', 0, { account });
  showNoFailures(journal, metrics);
  for (const result of ['rejoined', 'unanswered']) metrics.record('watchJoins', 0, { result });
  metrics.record('watchersReplaced', 0, {});
  metrics.record('internalErrors', 0, {});
}

/** The two stores of a worker. */
export interface WorkerStores {
  readonly artifacts: ArtifactStore;
  readonly journal: CreateJournal;
}

/**
 * Opens the stores that were not passed in and checks that both are writable.
 * @throws ConfigurationError for an unsupported location, or one that depends on the working directory
 */
export async function openWorkerStores(
  given: Partial<WorkerStores>,
  config: MediaConfig,
): Promise<WorkerStores> {
  const floats = given.journal === undefined ? floatingJournal(config) : undefined;
  if (floats !== undefined) throw floats;
  const artifacts = given.artifacts ?? (await ownStore(config));
  await artifacts.checkWritable();
  const journal = given.journal ?? (await openJournal(config));
  await journal.checkWritable();
  if (given.journal === undefined) await warnOfEphemeral(config.journal);
  return { artifacts, journal };
}

async function ownStore(config: MediaConfig): Promise<ArtifactStore> {
  const store = await openArtifactStore(config);
  // Delete partial downloads that no activity will resume.
  await store.removeStaleParts?.();
  return store;
}

async function warnOfEphemeral(place: string): Promise<void> {
  const ephemeral = schemeOf(place) === undefined ? await ephemeralJournal(place) : undefined;
  if (ephemeral === undefined) return;
  Runtime.instance().logger.warn(
    `temporal-media: ${ephemeral} Set MEDIA_JOURNAL to a volume that outlives both, a database or a bucket.`,
  );
}
