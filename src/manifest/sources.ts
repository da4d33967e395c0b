import { isAbsolute } from 'node:path';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { SNIFF_BYTES, sniffMedia } from '../artifacts/media-type';
import { type JsonValue } from '../domain/json';
import {
  type ArtifactRef,
  artifactUri,
  isArtifactRef,
  type MediaSource,
  type ReferenceKind,
  sha256OfArtifactUri,
} from '../domain/request';

/** Where bytes come from, as a manifest says it; not looked up yet. */
type WrittenSource =
  | { readonly url: string }
  | { readonly sha256: string }
  | { readonly artifact: ArtifactRef }
  | { readonly file: string };

export const SOURCE_FORMS: readonly string[] = ['https://…', 'artifact:sha256/HASH', 'file:PATH'];

/** A text, or an object with one of url, artifact and file; undefined for anything else. */
export function readSource(value: JsonValue | undefined): WrittenSource | undefined {
  if (typeof value === 'string') return readText(value.trim());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { url, artifact, file, source, ...others } = value;
  const given = [url, artifact, file, source].filter((one) => one !== undefined);
  if (given.length !== 1 || Object.keys(others).length > 0) return undefined;
  if (typeof url === 'string') return isUrl(url) ? { url } : undefined;
  if (typeof file === 'string') return readFile(file.replace(/^file:/i, ''));
  if (isArtifactRef(artifact)) return { artifact };
  return typeof artifact === 'string' ? readArtifact(artifact) : readSource(source);
}

function readText(text: string): WrittenSource | undefined {
  if (isUrl(text)) return { url: text };
  if (/^file:/i.test(text)) return readFile(text.slice('file:'.length));
  return readArtifact(text);
}

const isUrl = (text: string): boolean => /^(https?:\/\/[^/\s]+|data:)/i.test(text) && !/\s/.test(text);

function readArtifact(uri: string): WrittenSource | undefined {
  const sha256 = sha256OfArtifactUri(uri);
  return sha256 === undefined ? undefined : { sha256 };
}

/** Only below where the manifest stands: no root, no drive, no way up. */
function readFile(path: string): WrittenSource | undefined {
  const steps = path.split(/[\\/]/);
  const outside = isAbsolute(path) || /^([a-z]:|[\\/]|~)/i.test(path) || steps.includes('..');
  // eslint-disable-next-line no-control-regex
  return path === '' || outside || /[\0-\x1f]/.test(path) ? undefined : { file: path };
}

/** Looks up what a manifest only names. */
export interface SourceLookup {
  /** An artifact of the store by its hash; undefined when it is not there. */
  artifact(sha256: string): Promise<ArtifactRef | undefined>;
  /** A file beside the manifest, as an artifact: its content is then part of the row's identity. */
  file(path: string): Promise<ArtifactRef | undefined>;
}

type FoundSource = { readonly source: MediaSource } | { readonly message: string };

/** @param kind what the bytes must be; not known of an address */
export async function findSource(
  written: WrittenSource,
  kind: ReferenceKind,
  lookup: SourceLookup,
): Promise<FoundSource> {
  if ('url' in written) return { source: written };
  const artifact =
    'file' in written
      ? await lookup.file(written.file)
      : await lookup.artifact('artifact' in written ? written.artifact.sha256 : written.sha256);
  if (artifact === undefined) {
    return {
      message:
        'file' in written
          ? 'There is no such file to read, or it is no image, video or audio by its bytes. Paths are relative to the manifest; a worker reads only below its MEDIA_INPUT_ROOTS.'
          : "The artifact is not in this worker's store.",
    };
  }
  if (!artifact.mediaType.startsWith(`${kind}/`))
    return { message: `This is no ${kind === 'audio' ? 'sound' : kind} by its bytes.` };
  return { source: { artifact } };
}

/** Sources that are remembered: rows of a campaign share theirs. */
const KEPT = 10_000;

/**
 * Looks sources up once each. Of an artifact the media type is what its bytes say.
 * @param file a file beside the manifest, stored; undefined when there is none to read
 */
export function createSourceLookup(
  store: Pick<ArtifactStore, 'read' | 'has'>,
  file: (path: string) => Promise<ArtifactRef | undefined>,
): SourceLookup {
  const artifacts = new LeastRecent<ArtifactRef | undefined>(KEPT, () => 1);
  const files = new LeastRecent<ArtifactRef | undefined>(KEPT, () => 1);
  return {
    artifact: (sha256) => artifacts.get(sha256, () => describe(store, sha256)),
    file: (path) => files.get(path, () => file(path)),
  };
}

async function describe(
  store: Pick<ArtifactStore, 'read' | 'has'>,
  sha256: string,
): Promise<ArtifactRef | undefined> {
  const bytes = await store.has(sha256);
  if (bytes === null) return undefined;
  const stream = await store.read({ sha256 });
  const head: Buffer[] = [];
  try {
    let length = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      head.push(chunk);
      length += chunk.length;
      if (length >= SNIFF_BYTES) break;
    }
  } finally {
    stream.destroy();
  }
  const media = sniffMedia(Buffer.concat(head).subarray(0, SNIFF_BYTES));
  return {
    uri: artifactUri(sha256),
    mediaType: media?.mediaType ?? 'application/octet-stream',
    bytes,
    sha256,
  };
}

/**
 * Keeps what was read lately, up to a weight; what was not asked for the longest goes first. Two who ask for the same at
 * the same time share one reading; one that failed is not kept.
 */
export class LeastRecent<T> {
  readonly #kept = new Map<string, { readonly value: Promise<T>; weight: number }>();
  #weight = 0;

  /** @param most sum of the weights that stay; a single value may weigh more */
  constructor(
    private readonly most: number,
    private readonly weigh: (value: T) => number,
  ) {}

  async get(key: string, read: () => Promise<T>): Promise<T> {
    const found = this.#kept.get(key);
    if (found !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, found);
      return found.value;
    }
    const entry = { value: read(), weight: 0 };
    this.#kept.set(key, entry);
    try {
      const value = await entry.value;
      if (this.#kept.get(key) === entry) {
        entry.weight = this.weigh(value);
        this.#weight += entry.weight;
        this.#shrink(key);
      }
      return value;
    } catch (error) {
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
      throw error;
    }
  }

  #shrink(newest: string): void {
    for (const [key, { weight }] of this.#kept) {
      if (this.#weight <= this.most) return;
      if (key === newest || weight === 0) continue;
      this.#kept.delete(key);
      this.#weight -= weight;
    }
  }
}
