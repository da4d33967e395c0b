import { Readable } from 'node:stream';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { type S3Place } from './create-object';
import { storeError } from './store-error';

/** Breaks in a row, without a byte between them, after which a read fails. */
const BREAKS = 3;

/**
 * The bytes of an object. Where a connection breaks, also because the service or the client closed it on a slow reader,
 * the rest is asked for (`Range`), of the same object only.
 * @throws the error of the SDK when the read does not begin; the stream fails with an `ArtifactError`
 */
export async function objectBytes(place: S3Place, key: string): Promise<Readable> {
  const first = await open(place, key);
  return Readable.from(followed(place, key, first), { objectMode: false });
}

interface OpenObject {
  readonly bytes: AsyncIterator<Uint8Array>;
  readonly total: number;
  readonly etag: string | undefined;
}

async function open(
  place: S3Place,
  key: string,
  rest?: { at: number; etag: string | undefined },
): Promise<OpenObject> {
  const reply = await place.client.send(
    new GetObjectCommand({
      Bucket: place.bucket,
      Key: key,
      ...(rest !== undefined && { Range: `bytes=${rest.at}-`, IfMatch: rest.etag }),
    }),
  );
  const body = (reply.Body ?? Readable.from([])) as Readable;
  const at = rest?.at ?? 0;
  if (rest !== undefined && reply.ContentRange?.startsWith(`bytes ${at}-`) !== true) {
    body.destroy();
    throw new Error('The service sent another part than it was asked for.');
  }
  const bytes = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return { bytes, total: at + (reply.ContentLength ?? 0), etag: reply.ETag };
}

async function* followed(place: S3Place, key: string, first: OpenObject): AsyncGenerator<Uint8Array> {
  const { total, etag } = first;
  let { bytes } = first;
  let at = 0;
  let breaks = 0;
  try {
    while (at < total) {
      const next = await bytes.next().catch((error: unknown) => ({ error }));
      if (!('error' in next) && next.done !== true) {
        at += next.value.length;
        breaks = 0;
        yield next.value;
        continue;
      }
      breaks += 1;
      if (breaks > BREAKS) throw 'error' in next ? next.error : new Error('The body ended early.');
      ({ bytes } = await open(place, key, { at, etag }));
    }
  } catch (error) {
    throw storeError(error);
  } finally {
    await bytes.return?.();
  }
}
