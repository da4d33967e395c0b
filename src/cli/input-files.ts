import { realpath } from 'node:fs/promises';
import { ArtifactError, type ArtifactStore } from '../artifacts/artifact-store';
import { type IngestedFile, ingestFile } from '../artifacts/ingest';
import { type MediaSource, type ReferenceKind, type VideoReference } from '../domain/media';
import { badInput, CliError } from './cli-error';

/** Where the bytes of an input go, or only what they are when nothing is to be sent. */
type InputStore = Pick<ArtifactStore, 'putStream'>;

const KINDS: readonly ReferenceKind[] = ['image', 'video', 'audio'];
const FORM = 'A reference is KIND=FILE_OR_URL, or KIND:FIELD=FILE_OR_URL.';

/** Reads `--reference` values: files go into the store by hash, URLs pass as they are. @throws CliError */
export async function readReferences(
  store: InputStore,
  values: readonly string[],
): Promise<VideoReference[]> {
  return Promise.all(values.map((value) => readReference(store, value)));
}

async function readReference(store: InputStore, value: string): Promise<VideoReference> {
  const equals = value.indexOf('=');
  if (equals < 1) throw badInput([{ field: '--reference', message: FORM, allowed: KINDS }]);
  const [kind = '', field] = value.slice(0, equals).split(':', 2);
  if (!isKind(kind)) throw badInput([{ field: '--reference', message: FORM, allowed: KINDS }]);
  const source = await readSource(store, '--reference', kind, value.slice(equals + 1));
  return { kind, source, ...(field !== undefined && field !== '' && { field }) };
}

/**
 * One file or URL of the user. A file that is no image, video or audio by its bytes is refused: a request is no way
 * to send any file of this machine to the service (C2.4.6).
 */
export async function readSource(
  store: InputStore,
  option: string,
  kind: ReferenceKind,
  value: string,
): Promise<MediaSource> {
  if (/^(https?:\/\/|data:)/i.test(value)) return { url: value };
  let found: IngestedFile;
  try {
    // Links are followed here and not by the store: the user named the file himself.
    found = await ingestFile(store, await realpath(value));
  } catch (error) {
    throw inputError(option, value, error);
  }
  if (found.kind !== kind) {
    const message = `The file ${value} is ${article(found.kind)} by its bytes, not ${article(kind)}.`;
    throw badInput([{ field: option, message }]);
  }
  return { artifact: found.artifact };
}

function inputError(option: string, path: string, error: unknown): CliError {
  if (error instanceof ArtifactError) {
    if (error.code === 'not_media') {
      const message = `The file ${path} is no image, video or audio by its bytes; it is not sent anywhere.`;
      return badInput([{ field: option, message }]);
    }
    if (error.code === 'not_readable' || error.code === 'too_large') {
      return badInput([{ field: option, message: `The file ${path} cannot be used: ${error.message}` }]);
    }
    const message = `${option}: the file could not be stored. ${error.message}`;
    return new CliError(`artifacts/${error.code}`, message);
  }
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  return badInput([
    { field: option, message: `The file ${path} ${reason}. A URL starts with https:// or http://.` },
  ]);
}

function isKind(text: string): text is ReferenceKind {
  return (KINDS as readonly string[]).includes(text);
}

function article(kind: ReferenceKind): string {
  return kind === 'video' ? 'a video' : kind === 'image' ? 'an image' : 'audio';
}
