import { constants } from 'node:fs';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { safeName } from '@temporal-media/report/internal/report-folder';
import { type ArtifactRef, type Billing, type ImageOutcome, type VideoOutcome } from 'temporal-media';
import { ArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { extensionOf } from 'temporal-media/internal/stores/artifacts/media-type';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import { type ArtifactStore } from 'temporal-media/stores';
import { CliError } from './errors';

interface ResultsToSave {
  /** The files' base name. */
  readonly id: string;
  readonly workflowId: string;
  readonly outcome: VideoOutcome | ImageOutcome;
  /** Absolute path of an existing directory. */
  readonly directory: string;
}

/** The JSON file beside the images of one call. */
export interface ImageSidecar {
  readonly v: 1;
  readonly workflowId: string;
  readonly images: readonly SavedImage[];
  /** Unix time in seconds, as reported by the service. */
  readonly created?: number | null;
  readonly warnings?: readonly string[];
  readonly billing: Billing;
}

interface SavedImage extends ArtifactRef {
  /** The file's name in the same directory. */
  readonly file: string;
}

export interface SavedResults {
  /** Absolute paths of the results, in order. */
  readonly files: readonly string[];
  /** Absolute path of the sidecar; null when there is none. */
  readonly sidecarFile?: string | null;
}

/**
 * Copies an outcome's results and a sidecar out of the store. Each file is written completely or not at all, and never
 * overwrites different content. Saving the same outcome again finds the existing files. @throws CliError
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

/** Saves the images, numbered in the service's order. A lost image leaves a gap in the numbering. */
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
  const facts: ImageSidecar = {
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

/** Creates the output directory before anything is paid for. @throws CliError when it is not writable */
export async function prepareOut(out: string): Promise<string> {
  const directory = resolve(out);
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK | constants.X_OK);
    return directory;
  } catch (error) {
    const code = systemCode(error);
    throw new CliError('cannot_write', `--out: ${directory} is not writable (${code}).`);
  }
}

/** Returns the path for a result's artifact: `NAME.mp4`, or `NAME-1.png`, … for numbered results. */
export function resultPath(directory: string, name: string, ref: ArtifactRef, number?: number): string {
  return join(directory, `${name}${number === undefined ? '' : `-${number}`}.${extensionOf(ref.mediaType)}`);
}

/**
 * Copies an artifact out of the store, completely or not at all, without overwriting different content. @throws
 * CliError
 */
export async function saveArtifact(store: ArtifactStore, ref: ArtifactRef, path: string): Promise<string> {
  try {
    await store.fetchTo(ref, path);
    return path;
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    throw new CliError(`artifacts/${error.code}`, `${path}: ${error.message}`, { hint: error.hint });
  }
}

interface WriteOptions {
  readonly mode?: number;
  /** Whether the command fails instead of replacing an existing file. @default false */
  readonly isNew?: boolean;
}

/**
 * Writes a file whose name the user passed.
 * @param what the option or argument that names the file
 * @throws CliError `cannot_write`
 */
export async function writeNamedFile(
  what: string,
  file: string,
  data: string | Uint8Array,
  { mode, isNew = false }: WriteOptions = {},
): Promise<void> {
  try {
    await writeFile(file, data, { flag: isNew ? 'wx' : 'w', ...(mode !== undefined && { mode }) });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST')
      throw new CliError('cannot_write', `${what}: ${file} already exists. Nothing was overwritten.`, {
        hint: 'Pass another file name, or remove this file.',
      });
    const hint =
      code === 'ENOENT' ? 'Create its folder, or pass another file name.' : 'Pass another file name.';
    throw new CliError('cannot_write', `${what}: ${file} is not writable (${code}).`, { hint });
  }
}
