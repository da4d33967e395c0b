import { LRUCache } from 'lru-cache';
import { type ModelEntry, type ModelLookup } from '../domain/model-config';
import {
  type ArtifactRef,
  artifactUri,
  type MediaSource,
  type PaidRequest,
  type ReferenceKind,
} from '../domain/request';
import { type ModelSource } from '../settings/model-source';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';
import { SNIFF_BYTES, sniffMedia } from '../stores/artifacts/media-type';
import { type WrittenSource } from './columns';

/** Resolves the sources in a manifest. */
export interface SourceLookup {
  /** Finds an artifact in the store by hash; undefined if it is missing. */
  artifact(sha256: string): Promise<ArtifactRef | undefined>;
  /** Stores a file from the manifest's folder as an artifact, so that its content is part of the row's identity. */
  file(path: string): Promise<ArtifactRef | undefined>;
}

type FoundSource = { readonly source: MediaSource } | { readonly message: string };

/** Resolves a source. @param kind the required kind of the bytes; not checked for a URL */
export async function findSource(
  written: WrittenSource,
  kind: ReferenceKind,
  lookup: SourceLookup,
): Promise<FoundSource> {
  if ('url' in written) return { source: written };
  const isFile = 'file' in written;
  const artifact = isFile
    ? await lookup.file(written.file)
    : await lookup.artifact('artifact' in written ? written.artifact.sha256 : written.sha256);
  if (artifact === undefined)
    return { message: isFile ? NO_FILE : "The artifact is not in this worker's store." };
  if (!artifact.mediaType.startsWith(`${kind}/`))
    return { message: `This source does not contain ${kind} data.` };
  return { source: { artifact } };
}

const NO_FILE =
  'The file cannot be read, or its content is not an image, a video or audio. Paths are relative to the manifest. A worker reads only files below its MEDIA_INPUT_ROOTS.';

/** The maximum number of sources to cache. A campaign's rows often share them. */
const KEPT = 10_000;

/**
 * Creates a lookup that resolves each source once. Detects an artifact's media type from its bytes.
 * @param file stores a file from the manifest's folder; undefined if it cannot be read
 */
export function createSourceLookup(
  store: Pick<ArtifactStore, 'read' | 'has'>,
  file: (path: string) => Promise<ArtifactRef | undefined>,
): SourceLookup {
  const artifacts = cached((sha256) => describe(store, sha256));
  return { artifact: artifacts, file: cached(file) };
}

/** Lets concurrent calls for a source share one read. Caches missing sources too, but not failed reads. */
function cached(read: SourceLookup['file']): SourceLookup['file'] {
  const sources = new LRUCache<string, { readonly found: ArtifactRef | undefined }>({
    max: KEPT,
    fetchMethod: async (name) => ({ found: await read(name) }),
    ignoreFetchAbort: true,
  });
  return async (name) => (await sources.forceFetch(name)).found;
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
  const mediaType = media?.mediaType ?? 'application/octet-stream';
  return { uri: artifactUri(sha256), mediaType, bytes, sha256 };
}

/** The live model configuration cannot be read right now, so rows cannot be validated. */
export class ModelsDownError extends Error {
  override readonly name = 'ModelsDownError';

  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}

export type ModelKind = ModelEntry['kind'];

/** The maximum number of models to cache. For each additional name, the configuration is read again. */
const MOST = 10_000;

/** Caches each model's configuration, so that all rows of a manifest are validated against the same version. */
export class ModelSnapshot {
  readonly #known = new Map<string, ModelLookup>();

  constructor(private readonly models: Pick<ModelSource, 'lookup'>) {}

  /** @throws ModelsDownError */
  async lookup(model: string, kind?: ModelKind): Promise<ModelLookup> {
    // A refusal lists the models of one kind, but an entry is the same for both kinds.
    const refusalKey = `${kind ?? ''} ${model}`;
    const known = this.#known.get(model) ?? this.#known.get(refusalKey);
    if (known !== undefined) return known;
    const found = await this.models.lookup(model, kind);
    if (found.found === 'unavailable') throw new ModelsDownError(found.message, found.retryAfterMs);
    if (this.#known.size < MOST) this.#known.set(found.found === 'refused' ? refusalKey : model, found);
    return found;
  }

  /** @throws ModelsDownError */
  lookupOf({ operation, request }: PaidRequest): Promise<ModelLookup> {
    return this.lookup(request.model, operation === 'create_video' ? 'video' : 'image');
  }

  async kindOf(model: string): Promise<ModelKind | undefined> {
    const found = await this.lookup(model);
    return found.found === 'entry' ? found.entry.kind : undefined;
  }
}
