import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { artifactUri } from '../../src/domain/request';
import { ArtifactError } from '../../src/stores/artifacts/artifact-store';
import { type PlanStore } from './plan-harness';

/** Artifacts in memory. */
export function memoryStore(): PlanStore {
  const kept = new Map<string, Buffer>();
  const putBuffer: PlanStore['putBuffer'] = (bytes, { mediaType }) => {
    const sha256 = hash('sha256', bytes, 'hex');
    kept.set(sha256, Buffer.from(bytes));
    return Promise.resolve({ uri: artifactUri(sha256), mediaType, bytes: bytes.length, sha256 });
  };
  return {
    putBuffer,
    putStream: async (source, options) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of source) chunks.push(chunk);
      return putBuffer(Buffer.concat(chunks), options);
    },
    has: (sha256) => Promise.resolve(kept.get(sha256)?.length ?? null),
    read: ({ sha256 }) => {
      const bytes = kept.get(sha256);
      return bytes === undefined
        ? Promise.reject(new ArtifactError('not_found', 'It is not there.'))
        : Promise.resolve(Readable.from([bytes]));
    },
  };
}
