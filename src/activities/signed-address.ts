import { type ArtifactStore } from '../artifacts/artifact-store';
import { type ModelEntry } from '../domain/model-config';
import { isWithinReach } from '../service/address-filter';

/** A store that may sign addresses of its artifacts. */
export type SigningStore = Pick<ArtifactStore, 'presign'>;

/** An address from which the service can fetch an artifact, or why there is none. */
export type SignedAddress =
  /** A secret: it goes into the body of one request and nowhere else (C5.4b). */
  { readonly url: string } | { readonly refused: string };

/**
 * Has the store sign an address for a service with this base address.
 * @throws ArtifactError when the store does not have the artifact, or fails
 */
export async function signedAddress(
  store: SigningStore,
  artifact: { readonly sha256: string },
  expiresMs: number,
  service: string,
): Promise<SignedAddress> {
  if (store.presign === undefined) return { refused: GIVES_NONE };
  const url = await store.presign(artifact, { expiresMs });
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return { refused: 'The artifact store signs no http or https address: correct its presign.' };
  return isWithinReach(new URL(url), new URL(service)) ? { url } : { refused: OUT_OF_REACH };
}

/** Of a store that signs no addresses. */
export const GIVES_NONE =
  'This model takes references as URLs only, and the artifact store of the worker gives none. Set MEDIA_ARTIFACTS to a bucket (s3://bucket/prefix) that the service can reach, or give {url}.';
const OUT_OF_REACH =
  'This model takes references as URLs only, and the service cannot reach the addresses that the artifact store of the worker signs: they name this machine or its private network. Set AWS_ENDPOINT_URL_S3 where the workers run to the public address of the bucket (in a store of your own, correct presign), or give {url}.';

/**
 * Which of these models cannot get references from a store that signs addresses, and why, for the log of a worker that
 * starts. Undefined where they can, where none takes addresses, and while nothing is stored.
 */
export async function outOfReach(
  store: SigningStore & Pick<ArtifactStore, 'list'>,
  models: readonly ModelEntry[],
  service: string,
): Promise<string | undefined> {
  const takers = models.filter(
    (model) => model.kind === 'video' && model.references?.some(({ form }) => form === 'url') === true,
  );
  if (takers.length === 0 || store.presign === undefined) return undefined;
  const [any] = await store.list(null, 1);
  if (any === undefined) return undefined;
  const address = await signedAddress(store, any, 60_000, service);
  return 'refused' in address ? `${takers.map(({ id }) => id).join(', ')}: ${address.refused}` : undefined;
}
