import { type ArtifactRef } from 'temporal-media';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { artifactUri } from 'temporal-media/internal/domain/request';
import { type FilePart } from 'temporal-media/internal/stores/artifacts/file-part';
import { type StagedArtifact } from 'temporal-media/stores';

/** What a part does with its file. */
export interface PartUpload {
  /** Puts the file in the bucket as an artifact. */
  store(path: string, ref: ArtifactRef): Promise<void>;
  /** Puts the file in the bucket as rejected bytes. */
  reject(path: string, ref: ArtifactRef): Promise<void>;
  /** The file became a local copy of an artifact. */
  kept(bytes: number): Promise<void>;
}

/**
 * A part in a bucket's store: a local file until it is complete. The file is then stored as an object and becomes a
 * local copy.
 */
export class S3Part implements StagedArtifact {
  constructor(
    private readonly part: FilePart,
    private readonly upload: PartUpload,
  ) {}

  get position(): number {
    return this.part.position;
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.part.write(chunk);
  }

  restart(): Promise<void> {
    return this.part.restart();
  }

  inspectPath(): string {
    return this.part.inspectPath();
  }

  sha256(): string {
    return this.part.sha256();
  }

  async publish(mediaType: string): Promise<ArtifactRef> {
    const ref = await this.#ref(mediaType);
    await this.upload.store(this.part.inspectPath(), ref);
    // The artifact is stored, whatever happens to the local file.
    await this.part.publish(mediaType).then(
      () => this.upload.kept(ref.bytes),
      async (error: unknown) => {
        await this.part.discard().catch(otherwise(undefined));
        throwBug(error);
      },
    );
    return ref;
  }

  async reject(): Promise<ArtifactRef> {
    const ref = await this.#ref('application/octet-stream');
    await this.upload.reject(this.part.inspectPath(), ref);
    await this.part.discard().catch(otherwise(undefined));
    return ref;
  }

  discard(): Promise<void> {
    return this.part.discard();
  }

  close(): Promise<void> {
    return this.part.close();
  }

  async #ref(mediaType: string): Promise<ArtifactRef> {
    await this.part.settle();
    const sha256 = this.part.sha256();
    return { uri: artifactUri(sha256), mediaType, bytes: this.part.position, sha256 };
  }
}
