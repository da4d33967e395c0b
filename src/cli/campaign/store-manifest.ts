import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type ArtifactRef } from '../../domain/request';
import { canonicalManifest, LocalFiles, type ManifestInput, namesFiles } from './manifest';

/** The manifest as the worker reads it. */
export interface StoredManifest {
  readonly artifact: ArtifactRef;
  /** Format of the bytes; undefined when the first bytes show it. */
  readonly format: 'csv' | 'jsonl' | undefined;
}

/**
 * Puts a manifest into the store that the worker shares: its own bytes or, when rows name files of this machine, JSON
 * lines that name the stored files. The same manifest with the same files gives the same bytes. @throws ArtifactError
 */
export async function storeManifest(
  store: ArtifactStore,
  input: ManifestInput,
  format: 'csv' | 'jsonl' | undefined,
): Promise<StoredManifest> {
  if (input.artifact !== null) return { artifact: input.artifact, format };
  if (input.folder !== null && (await namesFiles(await input.open(), format))) {
    const files = new LocalFiles(input.folder, store);
    const lines = canonicalManifest(await input.open(), (path) => files.find(path), format);
    return { artifact: await store.putStream(lines, { mediaType: 'application/jsonl' }), format: 'jsonl' };
  }
  const mediaType = 'application/octet-stream';
  return { artifact: await store.putStream(await input.open(), { mediaType }), format };
}
