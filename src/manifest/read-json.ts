import { buffer } from 'node:stream/consumers';
import { type ArtifactStore } from '../artifacts/artifact-store';

/** A JSON document of ours out of the store. @throws ArtifactError when it is not there or not what its name says */
export async function readJson<T>(store: Pick<ArtifactStore, 'read'>, sha256: string): Promise<T> {
  const bytes = await buffer(await store.read({ sha256 }));
  return JSON.parse(bytes.toString('utf8')) as T;
}
