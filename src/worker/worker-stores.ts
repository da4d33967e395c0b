import { type ArtifactStore } from '../artifacts/artifact-store';
import { type MediaConfig, floatingJournal } from '../config';
import { type CreateJournal } from '../domain/journal';
import { openArtifactStore, openJournal } from '../stores/open-stores';

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
  return { artifacts, journal };
}

async function ownStore(config: MediaConfig): Promise<ArtifactStore> {
  const store = await openArtifactStore(config);
  // Delete the partial files of downloads that no activity resumes.
  await store.removeStaleParts?.();
  return store;
}
