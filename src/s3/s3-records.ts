import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { otherwise } from '../domain/bug';
import { mapConcurrently } from '../domain/map-concurrently';
import { type RecordStore } from '../journal/record-store';
import { createObject, keyOf, objectOf, readObject, type S3Place } from './create-object';
import { listPages } from './list-page';
import { probeConditionalPuts } from './probe';
import { failureOf, isAbsent, s3Error } from './s3-error';

/** Reads at a time of one call. */
const AT_ONCE = 16;
/** Of a request, with the tries of the SDK. */
const REQUEST_MS = 20_000;
const limited = () => ({ abortSignal: AbortSignal.timeout(REQUEST_MS) });

/**
 * Records in a bucket, each one object `<prefix>/<name>`, for any number of hosts. Every method rejects with an
 * `S3Error`. The client belongs to the caller, who closes it.
 */
export function createS3Records(place: S3Place): RecordStore {
  const { client, bucket } = place;

  async function names(prefix: string, after: string | null, limit: number): Promise<readonly string[]> {
    const found: string[] = [];
    if (limit < 1) return found;
    try {
      for await (const page of listPages(place, prefix, after, limit)) {
        found.push(...page.map(({ name }) => name));
        if (found.length >= limit) return found.slice(0, limit);
      }
    } catch (error) {
      throw s3Error('The records of the bucket could not be listed', failureOf(error));
    }
    return found;
  }

  return {
    kind: 's3',
    names,
    read: (name) => readObject(place, name),
    create: (name, text) => createObject(place, name, text),

    async readAll(prefix) {
      const all = await names(prefix, null, Infinity);
      const texts = new Map<string, string | null>(all.map((name) => [name, null]));
      await mapConcurrently(all, AT_ONCE, async (name) => {
        texts.set(name, await readObject(place, name));
      });
      // What was removed after it was listed is left out.
      return new Map([...texts].filter((entry): entry is [string, string] => entry[1] !== null));
    },

    async note(name, text) {
      if (text === null) {
        const dropped = new DeleteObjectCommand({ Bucket: bucket, Key: keyOf(place, name) });
        await client.send(dropped, limited()).catch(otherwise(undefined));
        return;
      }
      try {
        await client.send(new PutObjectCommand(objectOf(place, name, text)), limited());
      } catch (error) {
        throw s3Error('A hint could not be written to the bucket', failureOf(error));
      }
    },

    async remove(name) {
      try {
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: keyOf(place, name) }), limited());
      } catch (error) {
        const failure = failureOf(error);
        if (!isAbsent(failure)) throw s3Error('A record could not be removed from the bucket', failure);
      }
    },

    check: () => probeConditionalPuts(place, 'hold a journal'),
  };
}
