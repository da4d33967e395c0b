import { basename } from 'node:path';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type ArtifactRef } from '../domain/media';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { resultPath, saveArtifact } from './result-files';
import { safeName } from './safe-name';

export interface ResultsToSave {
  /** What the files are called after. */
  readonly id: string;
  readonly workflowId: string;
  readonly outcome: VideoOutcome | ImageOutcome;
  /** Absolute path of a directory that is there. */
  readonly directory: string;
}

export interface SavedResults {
  /** Absolute paths of the results, in order. */
  readonly files: readonly string[];
  /** The facts beside them; null when there are none. */
  readonly sidecarFile?: string | null;
}

/**
 * Copies the results of an outcome out of the store, with their facts beside them: complete or not at all, never over
 * another content. The same outcome saved again finds its own files. @throws CliError
 */
export async function saveResults(store: ArtifactStore, results: ResultsToSave): Promise<SavedResults> {
  const { outcome, directory } = results;
  const name = safeName(results.id);
  if (outcome.outcome === 'results_lost') return saveImages(store, results, outcome.images);
  if (outcome.outcome !== 'completed') return { files: [] };
  if ('images' in outcome) return saveImages(store, results, outcome.images);
  const { artifact, sidecar } = outcome;
  const file = await saveArtifact(store, artifact, resultPath(directory, name, artifact));
  const sidecarFile =
    sidecar === null ? null : await saveArtifact(store, sidecar, resultPath(directory, name, sidecar));
  return { files: [file], sidecarFile };
}

/** Numbered as the service numbered them: a lost one leaves a gap. */
async function saveImages(
  store: ArtifactStore,
  { id, workflowId, outcome, directory }: ResultsToSave,
  images: readonly (ArtifactRef | null)[],
): Promise<SavedResults> {
  const name = safeName(id);
  const saved: { readonly file: string; readonly ref: ArtifactRef }[] = [];
  for (const [index, ref] of images.entries()) {
    if (ref === null) continue;
    const file = await saveArtifact(store, ref, resultPath(directory, name, ref, index + 1));
    saved.push({ file, ref });
  }
  const files = saved.map(({ file }) => file);
  if (files.length === 0) return { files, sidecarFile: null };
  const { billing } = outcome;
  const facts = {
    v: 1,
    workflowId,
    images: saved.map(({ file, ref }) => ({ file: basename(file), ...ref })),
    ...('created' in outcome && { created: outcome.created }),
    ...('warnings' in outcome && { warnings: outcome.warnings }),
    billing,
  };
  const sidecar = await store.putBuffer(Buffer.from(`${JSON.stringify(facts, null, 2)}\n`), {
    mediaType: 'application/json',
  });
  return { files, sidecarFile: await saveArtifact(store, sidecar, resultPath(directory, name, sidecar)) };
}
