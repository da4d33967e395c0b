import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type ArtifactRef, sha256OfArtifactUri } from '../../domain/media';
import { CliError } from '../cli-error';

/** A manifest that may be read as often as it is needed. */
export interface ManifestInput {
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
  /** Folder below which its rows may name files of this machine; null: they may name none. */
  readonly folder: string | null;
  /** Of a manifest that is in the store already. */
  readonly artifact: ArtifactRef | null;
  /** Removes what was kept of it for the time of the command. */
  dispose(): Promise<void>;
}

/**
 * Opens MANIFEST: a file, `-`, an address or an artifact. What can be read only once is kept in a temporary file. Rows of
 * a manifest from elsewhere name no files of this machine. @throws CliError `manifest_unreadable`
 */
export async function openManifest(
  argument: string,
  store: Pick<ArtifactStore, 'has' | 'read'>,
): Promise<ManifestInput> {
  if (argument === '-') return spooled(process.stdin, process.cwd());
  if (/^https?:\/\//i.test(argument)) {
    const { fetchManifest } = await import('./fetch-manifest.js');
    return spooled(await fetchManifest(argument), null);
  }
  const sha256 = sha256OfArtifactUri(argument);
  if (sha256 !== undefined) return storedManifest(argument, sha256, store);
  const file = resolve(argument);
  const facts = await stat(file).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw unreadable(code === 'ENOENT' ? `There is no file ${argument}.` : `${argument}: ${code}.`);
  });
  if (facts.isDirectory()) throw unreadable(`${argument} is a folder.`);
  if (!facts.isFile()) return spooled(createReadStream(file), process.cwd());
  return {
    open: async () => createReadStream(file) as AsyncIterable<Uint8Array>,
    folder: dirname(file),
    artifact: null,
    dispose: async () => undefined,
  };
}

export function unreadable(message: string): CliError {
  return new CliError('manifest_unreadable', `The manifest cannot be read: ${message}`);
}

async function storedManifest(
  uri: string,
  sha256: string,
  store: Pick<ArtifactStore, 'has' | 'read'>,
): Promise<ManifestInput> {
  const bytes = await store.has(sha256);
  if (bytes === null) throw unreadable('the artifact store of this command does not have it.');
  return {
    open: async () => (await store.read({ sha256 })) as AsyncIterable<Uint8Array>,
    folder: null,
    artifact: { uri, mediaType: 'application/octet-stream', bytes, sha256 },
    dispose: async () => undefined,
  };
}

async function spooled(source: Readable, folder: string | null): Promise<ManifestInput> {
  const directory = await mkdtemp(join(tmpdir(), 'temporal-media-manifest-'));
  const file = join(directory, 'manifest');
  const dispose = () => rm(directory, { recursive: true, force: true });
  try {
    await pipeline(source, createWriteStream(file, { mode: 0o600 }));
  } catch (error) {
    await dispose();
    throw unreadable(`it broke off (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
  return {
    open: async () => createReadStream(file) as AsyncIterable<Uint8Array>,
    folder,
    artifact: null,
    dispose,
  };
}
