import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { createObject, objectAt, readObject, type S3Place } from './create-object';
import { s3FailureOf, S3Error } from './s3-error';

/**
 * Finds out by two puts of one new name whether the service lets only the first one win, and reads it back.
 * @param consequence what the store must not be used for otherwise, as the end of a sentence
 * @throws S3Error when the second one wins too, or the bucket cannot be written, read or reached
 */
export async function probeConditionalPuts(place: S3Place, consequence: string): Promise<void> {
  const name = `probe/${randomUUID()}`;
  const [first, second] = ['first', 'second'].map((word) => `${word} ${randomUUID()}\n`) as [string, string];
  try {
    const answers = [await createObject(place, name, first), await createObject(place, name, second)];
    const kept = await readObject(place, name);
    if (answers.join() === 'won,lost' && kept === first) return;
    throw notHonoured(consequence);
  } catch (error) {
    throw s3FailureOf(error).status === 501 ? notHonoured(consequence) : error;
  } finally {
    await place.client.send(new DeleteObjectCommand(objectAt(place, name))).catch(otherwise(undefined));
  }
}

function notHonoured(consequence: string): S3Error {
  return new S3Error(
    `This store does not honour conditional puts (If-None-Match: *): of two writers of one name both win, so that it must not ${consequence}. Use a service that does, such as Amazon S3, Cloudflare R2 or MinIO.`,
    null,
    'NotConditional',
  );
}
