import { ListObjectsV2Command, type _Object } from '@aws-sdk/client-s3';
import { keyOf, type S3Place } from './create-object';

/** What a service lists at a time at most. */
const PAGE = 1_000;
/** Of a request, with the tries of the SDK. */
const LIST_MS = 20_000;

/** An object of a place, by its name there. */
export interface ListedObject {
  readonly name: string;
  readonly bytes: number;
  readonly storedAt: Date | undefined;
}

/**
 * Objects whose names begin with `prefix` and come after `after`, in the order of their bytes, page by page.
 * @param limit of a page; a caller that has enough stops
 * @throws the error of the SDK
 */
export async function* listPages(
  place: S3Place,
  prefix: string,
  after: string | null,
  limit: number,
): AsyncGenerator<readonly ListedObject[]> {
  const root = keyOf(place, '').length;
  let last = after === null ? undefined : keyOf(place, after);
  for (;;) {
    const reply = await place.client.send(
      new ListObjectsV2Command({
        Bucket: place.bucket,
        Prefix: keyOf(place, prefix),
        StartAfter: last,
        MaxKeys: Math.min(PAGE, limit),
      }),
      { abortSignal: AbortSignal.timeout(LIST_MS) },
    );
    const objects = (reply.Contents ?? []).flatMap((object) => listed(object, root));
    yield objects;
    last = reply.Contents?.at(-1)?.Key;
    if (reply.IsTruncated !== true || last === undefined) return;
  }
}

function listed({ Key, Size, LastModified }: _Object, root: number): ListedObject[] {
  return Key === undefined ? [] : [{ name: Key.slice(root), bytes: Size ?? 0, storedAt: LastModified }];
}
