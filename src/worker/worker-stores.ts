import { Runtime } from '@temporalio/worker';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type MediaConfig, floatingJournal } from '../config';
import { type CreateJournal } from '../domain/journal';
import { passingJournal } from '../files/passing';
import { openArtifactStore, openJournal, schemeOf } from '../stores/open-stores';

/** The two stores of a worker. */
export interface WorkerStores {
  readonly artifacts: ArtifactStore;
  readonly journal: CreateJournal;
}

/**
 * Opens those that are not given, and checks that both can be written.
 * @throws ConfigurationError for a place that no store here has, or that depends on the folder of the process
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
  if (given.journal === undefined) await warnOfPassing(config.journal);
  return { artifacts, journal };
}

async function ownStore(config: MediaConfig): Promise<ArtifactStore> {
  const store = await openArtifactStore(config);
  // Delete the partial files of downloads that no activity resumes.
  await store.removeStaleParts?.();
  return store;
}

async function warnOfPassing(place: string): Promise<void> {
  const passing = schemeOf(place) === undefined ? await passingJournal(place) : undefined;
  if (passing === undefined) return;
  Runtime.instance().logger.warn(
    `temporal-media: ${passing} Set MEDIA_JOURNAL to a volume that outlives both, a database or a bucket.`,
  );
}
