import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Dispatcher } from 'undici';
import { throwBug } from '../domain/bug';
import { type JsonValue } from '../domain/json';
import { type PolledRecord } from '../domain/poll-answers';
import { isUsableTaskId } from '../domain/video-task';
import { isAborted, meaningOfGet } from './classify-reply';
import { type ApiCaller, apiHeaders, apiUrl, type Credentials, credentialsOf, pathSegment } from './endpoint';
import { type GetVideoOptions, type GetVideoResult, type VideoReading } from './media-client';
import { findRecord } from './read-replies';
import { type Redactor } from './redact';
import { type CollectedReply, collectReply, decodedBody, MAX_REPLY_BYTES, parseJsonBody } from './reply-body';
import { parseRetryAfter } from './reply-headers';
import { readTaskError } from './task-error';
import { readVideoRecord } from './video-record';

/** How many bytes of a page or other text are searched for an error. */
const MAX_ERROR_TEXT = 16_384;

/** Sends one GET for a task record, without redirects or retries. Never throws. */
export async function getVideo(
  caller: ApiCaller,
  pool: () => Dispatcher,
  taskId: string,
  bodyMs: number,
  { signal, actual }: Pick<GetVideoOptions, 'signal' | 'actual'> = {},
): Promise<GetVideoResult> {
  if (!isUsableTaskId(taskId) || /\p{Cs}/u.test(taskId)) return { kind: 'error', error: 'bad_request' };
  const credentials = await credentialsOf(caller);
  if (credentials === undefined) return { kind: 'error', error: 'credentials' };
  if (isAborted(signal)) return { kind: 'error', error: 'late' };
  try {
    const headers = { ...apiHeaders(caller, credentials), accept: 'application/json' };
    const request = { ...addressOf(caller, taskId), method: 'GET', headers } as const;
    const limits = { withinMs: bodyMs, maxBytes: MAX_REPLY_BYTES.record };
    const reply = await collectReply(pool(), request, limits, signal);
    return readReply(caller, credentials, { taskId, reply, actual }, signal);
  } catch (error) {
    throwBug(error);
    return { kind: 'error', error: isAborted(signal) ? 'late' : 'network' };
  }
}

/** Keyed by redactor, because redactors for different keys remove different texts. */
const READINGS = new WeakMap<Redactor, RecentReadings>();

function readingsOf(redactor: Redactor): RecentReadings {
  let readings = READINGS.get(redactor);
  if (readings === undefined) READINGS.set(redactor, (readings = new RecentReadings()));
  return readings;
}

const PLACES = new WeakMap<ApiCaller, { readonly origin: string; readonly tasks: string }>();

/** The origin and path of a task's record. Cached, because only the last segment changes between polls. */
function addressOf(caller: ApiCaller, taskId: string): { readonly origin: string; readonly path: string } {
  let place = PLACES.get(caller);
  if (place === undefined) {
    const { origin, pathname } = apiUrl(caller.baseUrl, 'videos', '-');
    place = { origin, tasks: pathname.slice(0, -1) };
    PLACES.set(caller, place);
  }
  return { origin: place.origin, path: place.tasks + pathSegment(taskId) };
}

interface ReceivedReply extends Pick<GetVideoOptions, 'actual'> {
  readonly taskId: string;
  readonly reply: CollectedReply;
}

function readReply(
  caller: ApiCaller,
  { redactor }: Credentials,
  got: ReceivedReply,
  signal: AbortSignal | undefined,
): GetVideoResult {
  const { taskId, reply } = got;
  const { status, body } = reply;
  if (isAborted(signal) && body.end !== 'complete') return { kind: 'error', error: 'late' };
  const readings = status === 200 && body.end === 'complete' ? readingsOf(redactor) : undefined;
  const whole = { bytes: body.bytes, encoding: encodingOf(reply) };
  const known = readings?.find(taskId, whole);
  if (known !== undefined) return new SameReading(status, known, () => read(caller, redactor, got).reading);
  const { bytes, json, reading } = read(caller, redactor, got);
  const meaning = meaningOfGet(status);
  if (reading !== undefined) {
    const digest = recordDigest(reading.record);
    readings?.keep(taskId, whole, reading.record.phase, digest);
    return { kind: 'record', httpStatus: status, digest, ...reading };
  }
  // The network truncated the reply, so the next poll may get all of it.
  if (meaning === 'record' && (body.end === 'broken' || body.end === 'too_late'))
    return { kind: 'error', error: 'network', httpStatus: status };
  const retryAfterMs = parseRetryAfter(reply.headers, caller.now());
  return {
    kind: 'error',
    error: meaning === 'record' ? 'unreadable' : meaning,
    httpStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    taskError: readTaskError(json ?? textOf(bytes), redactor, status),
  };
}

function encodingOf({ headers }: CollectedReply): string {
  const encoding = headers['content-encoding'];
  return typeof encoding === 'string' ? encoding : '';
}

function read(
  { baseUrl }: ApiCaller,
  redactor: Redactor,
  { taskId, reply, actual }: ReceivedReply,
): {
  readonly bytes?: Buffer | undefined;
  readonly json?: JsonValue | undefined;
  readonly reading?: VideoReading | undefined;
} {
  const { status, body } = reply;
  const bytes = decodedBody(body.bytes, encodingOf(reply), MAX_REPLY_BYTES.record);
  if (bytes === undefined || body.end !== 'complete') return { bytes };
  const json = parseJsonBody(bytes);
  const isError = meaningOfGet(status) !== 'record';
  const record = findRecord(json ?? textOf(bytes), { taskId, isError });
  return { bytes, json, reading: record && readVideoRecord(record, { baseUrl, redactor, actual }) };
}

function textOf(bytes: Buffer | undefined): string | undefined {
  return bytes?.subarray(0, MAX_ERROR_TEXT).toString('utf8');
}

/** The maximum number of tasks to remember, and of bytes per body. Longer bodies are parsed each time. */
const MOST_TASKS = 50_000;
const LONGEST = 2_048;

/** A body before decoding. `encoding` is its Content-Encoding, or `''`. */
interface EncodedBody {
  readonly bytes: Buffer;
  readonly encoding: string;
}

/**
 * Remembers each running task's last reply. Most polls return the same bytes as the poll before, and hashing them costs
 * a tenth of parsing them. Stores only hashes: a record may contain a signed URL, and tens of thousands of records
 * would dominate a polling thread's memory (docs/adr/0014).
 */
export class RecentReadings {
  readonly #byTask = new LRUCache<string, { readonly hash: string; readonly digest: string }>({
    max: MOST_TASKS,
  });

  /** The digest of the record in this body; undefined if the last body was different or is not remembered. */
  find(taskId: string, body: EncodedBody): string | undefined {
    const last = this.#byTask.get(taskId);
    return last !== undefined && last.hash === hashOf(body) ? last.digest : undefined;
  }

  keep(taskId: string, body: EncodedBody, phase: PolledRecord['phase'], digest: string): void {
    // A task that has ended is not polled again.
    if (ENDED.has(phase) || body.bytes.length > LONGEST) this.#byTask.delete(taskId);
    else this.#byTask.set(taskId, { hash: hashOf(body), digest });
  }
}

const ENDED: ReadonlySet<PolledRecord['phase']> = new Set(['completed', 'failed']);

function hashOf({ bytes, encoding }: EncodedBody): string {
  return encoding + hash('sha256', bytes, 'base64');
}

/**
 * A reply with the same bytes as the previous one. The digest is known, so the record is parsed only if a caller that
 * does not have it yet accesses its fields.
 */
class SameReading implements VideoReading {
  readonly kind = 'record';
  #reading: VideoReading | undefined;

  constructor(
    readonly httpStatus: number,
    readonly digest: string,
    private readonly read: () => VideoReading | undefined,
  ) {}

  get id(): string | undefined {
    return this.reading().id;
  }

  get record(): PolledRecord {
    return this.reading().record;
  }

  get resultUrls(): readonly string[] {
    return this.reading().resultUrls;
  }

  toJSON(): object {
    const { kind, httpStatus, digest } = this;
    return { kind, httpStatus, digest, ...this.reading() };
  }

  private reading(): VideoReading {
    this.#reading ??= this.read();
    if (this.#reading === undefined)
      throw new Error('The reply contained a record before but cannot be read as one now');
    return this.#reading;
  }
}

/** A short hash of a record. Eight characters are enough to detect a change, and every tick transfers them. */
export function recordDigest(record: PolledRecord): string {
  return hash('sha256', JSON.stringify(record), 'base64url').slice(0, 8);
}
