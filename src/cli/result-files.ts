import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ArtifactError } from '../artifacts/artifact-error';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type ArtifactRef } from '../domain/media';
import { CliError } from './cli-error';
import { EXIT } from './exit-codes';

const EXTENSIONS: { readonly [mediaType: string]: string } = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'application/json': 'json',
};

/** Makes the directory of the results before anything is paid for. @throws CliError when nothing can be written there */
export async function prepareOut(out: string): Promise<string> {
  const directory = resolve(out);
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK | constants.X_OK);
    return directory;
  } catch (error) {
    throw new CliError(EXIT.cannotWrite, {
      type: 'cannot_write',
      message: `--out: ${directory} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      hint: 'Name a directory that you may write to. Nothing was started.',
    });
  }
}

/** Where an artifact of a result goes: `NAME.mp4`, or `NAME-1.png`, … for numbered ones. */
export function resultPath(directory: string, name: string, ref: ArtifactRef, number?: number): string {
  const extension = EXTENSIONS[ref.mediaType.split(';')[0] ?? ''] ?? 'bin';
  return join(directory, `${name}${number === undefined ? '' : `-${number}`}.${extension}`);
}

/** Copies an artifact out of the store: complete or not at all, never over another content. @throws CliError */
export async function saveArtifact(store: ArtifactStore, ref: ArtifactRef, path: string): Promise<string> {
  try {
    await store.fetchTo(ref, path);
    return path;
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    throw new CliError(EXIT.cannotWrite, {
      type: `artifacts/${error.code}`,
      message: `${path}: ${error.message}`,
      hint: HINTS[error.code] ?? 'The result is safe in the artifact store: resume, or repeat the same id.',
    });
  }
}

const HINTS: { readonly [code: string]: string } = {
  destination_occupied:
    'Nothing is overwritten. Name another directory with --out and repeat the same id: nothing is bought again.',
  not_found:
    "This command does not see the worker's artifact store: set MEDIA_DATA_DIR or MEDIA_ARTIFACTS as the worker has it, then repeat the same id.",
};
