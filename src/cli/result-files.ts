import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ArtifactError, type ArtifactStore } from '../artifacts/artifact-store';
import { fileExtension } from '../artifacts/file-store';
import { type ArtifactRef } from '../domain/media';
import { CliError } from './cli-error';

/** Makes the directory of the results before anything is paid for. @throws CliError when nothing can be written there */
export async function prepareOut(out: string): Promise<string> {
  const directory = resolve(out);
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK | constants.X_OK);
    return directory;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new CliError('cannot_write', `--out: ${directory} cannot be written (${code}).`);
  }
}

/** Where an artifact of a result goes: `NAME.mp4`, or `NAME-1.png`, … for numbered ones. */
export function resultPath(directory: string, name: string, ref: ArtifactRef, number?: number): string {
  return join(
    directory,
    `${name}${number === undefined ? '' : `-${number}`}.${fileExtension(ref.mediaType)}`,
  );
}

/** Copies an artifact out of the store: complete or not at all, never over another content. @throws CliError */
export async function saveArtifact(store: ArtifactStore, ref: ArtifactRef, path: string): Promise<string> {
  try {
    await store.fetchTo(ref, path);
    return path;
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    throw new CliError(`artifacts/${error.code}`, `${path}: ${error.message}`);
  }
}
