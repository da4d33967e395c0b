import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type _Object,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { type S3Address } from './address';
import { isAbsent, NO_REGION, S3Error, s3Error, type S3Failure, s3FailureOf } from './s3-error';

/** A location in a bucket, and the client that accesses it. */
export interface S3Place extends S3Address {
  /** Client for the bucket's service. */
  readonly client: S3Client;
}

/** Returns the key for a name at this location. */
export function keyOf({ prefix }: S3Address, name: string): string {
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Returns the request fields for the object with this name. */
export function objectAt(place: S3Address, name: string): { readonly Bucket: string; readonly Key: string } {
  return { Bucket: place.bucket, Key: keyOf(place, name) };
}

/** Timeout per attempt. Writing a small object takes only tens of milliseconds. */
const TRY_MS = 5_000;
const TRIES = 5;
/** First pause between attempts, in milliseconds. Doubled after each attempt. */
const FIRST_PAUSE_MS = 100;
/** Timeout of a read, including the SDK's retries. */
const READ_MS = 20_000;
const READ_TRIES = 3;

/**
 * Creates a small object, or reports that one with this name exists (`If-None-Match: *`). The service lets exactly one
 * caller win.
 *
 * The SDK would retry a put automatically and then report the object written by its own first attempt as someone
 * else's. So the SDK sends each put once, and this function retries. If the reply is "already exists" after an attempt
 * whose answer was lost, this function reads the object back, because it may contain this caller's own text.
 * @throws S3Error if it remains unknown whether the object was written, or if the service refuses
 */
export async function createObject(place: S3Place, name: string, text: string): Promise<'won' | 'lost'> {
  let maybeWritten = false;
  for (let tries = 1; ; tries += 1) {
    const failure = await putOnce(place, name, text);
    if (failure === undefined) return 'won';
    const meaning = meaningOf(failure);
    if (meaning === 'exists' && !maybeWritten) return 'lost';
    if (meaning === 'unknown') maybeWritten = true;
    const isLast = meaning === 'refused' || tries === TRIES;
    if (maybeWritten && (meaning === 'exists' || isLast)) {
      const answer = await winnerOf(place, name, text);
      if (answer !== undefined) return answer;
    }
    if (isLast) throw notStored(failure, maybeWritten);
    await delay(FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random() / 2));
  }
}

function notStored(failure: S3Failure, maybeWritten: boolean): S3Error {
  return s3Error(
    maybeWritten
      ? 'It is unknown whether the bucket stored a record, because its replies were lost'
      : 'The bucket did not store a record',
    failure,
  );
}

/**
 * Returns an object's text, or null if there is no object. The SDK verifies the text with the checksum that was stored
 * with it.
 */
export async function readObject(place: S3Place, name: string): Promise<string | null> {
  const input = { ...objectAt(place, name), ChecksumMode: 'ENABLED' } as const;
  const abortSignal = AbortSignal.timeout(READ_MS);
  for (let tries = 1; ; tries += 1) {
    try {
      const reply = await place.client.send(new GetObjectCommand(input), { abortSignal });
      return (await reply.Body?.transformToString('utf-8')) ?? '';
    } catch (error) {
      const failure = s3FailureOf(error);
      if (isAbsent(failure)) return null;
      // The SDK retries if a reply does not begin, but not if it is cut off.
      if (failure.status !== null || tries === READ_TRIES)
        throw s3Error('A record could not be read from the bucket', failure);
    }
  }
}

/**
 * Returns `won` if the object contains this text, `lost` if it contains other text, and undefined if there is no
 * object.
 */
async function winnerOf(place: S3Place, name: string, text: string): Promise<'won' | 'lost' | undefined> {
  const found = await readObject(place, name);
  if (found === null) return undefined;
  return found === text ? 'won' : 'lost';
}

/** @returns the reason for the failure; undefined if the object is stored */
async function putOnce(place: S3Place, name: string, text: string): Promise<S3Failure | undefined> {
  const put = new PutObjectCommand({
    ...putInput(place, name, text),
    IfNoneMatch: '*',
  });
  // Replaces the SDK's retry middleware.
  put.middlewareStack.add((next) => next, { ...RETRIES, override: true });
  try {
    await place.client.send(put, { abortSignal: AbortSignal.timeout(TRY_MS) });
    return undefined;
  } catch (error) {
    return s3FailureOf(error);
  }
}

const RETRIES = { name: 'retryMiddleware', step: 'finalizeRequest', priority: 'high' } as const;

/** Returns the input for putting a small object. The service refuses a body that does not match this checksum. */
export function putInput(
  place: S3Place,
  name: string,
  text: string,
): { Bucket: string; Key: string; Body: Buffer; ChecksumSHA256: string; ContentType: string } {
  const body = Buffer.from(text, 'utf8');
  return {
    ...objectAt(place, name),
    Body: body,
    ChecksumSHA256: createHash('sha256').update(body).digest('base64'),
    ContentType: 'text/plain; charset=utf-8',
  };
}

/** Codes for connections that were not established, so that nothing was sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * Returns the meaning of a failed conditional put: an object with this name exists (`exists`), nothing was written and
 * a retry may help (`busy`) or will not help (`refused`), or the object may have been written (`unknown`).
 */
function meaningOf({ status, code }: S3Failure): 'exists' | 'busy' | 'refused' | 'unknown' {
  if (status === 412) return 'exists';
  // Another put of this name is in progress.
  if (status === 409) return 'busy';
  // The SDK corrects its clock from this reply.
  if (code === 'RequestTimeTooSkewed') return 'busy';
  if (code === 'CredentialsProviderError' || code === 'NotImplemented' || code === NO_REGION)
    return 'refused';
  if (status === null) return NOT_CONNECTED.has(code) ? 'busy' : 'unknown';
  if (status >= 500 || status === 429 || status === 408 || code === 'RequestTimeout') return 'unknown';
  return 'refused';
}

/** Maximum page size of a service's listing. */
const PAGE = 1_000;
/** Timeout per request, including the SDK's retries. */
const LIST_MS = 20_000;

/** An object, with its name at the location. */
export interface ListedObject {
  readonly name: string;
  readonly bytes: number;
  readonly storedAt: Date | undefined;
}

/**
 * Lists objects with names that begin with `prefix` and sort after `after`, in byte order, page by page.
 * @param limit the page size; a caller may stop early
 * @throws the SDK's error
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

/**
 * Puts the same new name twice to find out whether the service lets only the first put win, and reads the object back.
 * @param consequence completes the error message after "It must not", for a service that fails the probe
 * @throws S3Error if the second put also wins, or the bucket cannot be written, read or reached
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
    `This store does not honor conditional puts (If-None-Match: *): if two writers create the same name, both succeed. It must not ${consequence}. Use a service that honors them, such as Amazon S3, Cloudflare R2 or MinIO.`,
    null,
    'NotConditional',
  );
}
