import { hash } from 'node:crypto';
import { type PolledRecord } from '../domain/poll-answers';
import { setNewest } from '../domain/set-newest';

/** Tasks whose last reply is known, and the longest record that counts: one with its pictures in it is read anew. */
const MOST_TASKS = 50_000;
const LONGEST = 2_048;

/** A body as it came; `encoding` is its Content-Encoding, `''` for none. */
export interface EncodedBody {
  readonly bytes: Buffer;
  readonly encoding: string;
}

interface KnownReply {
  readonly hash: string;
  /** Of the record that was read out of it. */
  readonly digest: string;
}

/**
 * What the last reply for each task in work came to. Most polls bring the same bytes as the one before, and hashing them
 * costs a tenth of reading them. Only hashes are kept: a record may hold a signed address, and tens of thousands of them
 * would be the largest thing in the memory of a thread that polls (docs/adr/0014).
 */
export class RecentReadings {
  readonly #byTask = new Map<string, KnownReply>();

  /** Digest of the record in these bytes; undefined when they are not those of the reply before, or it was not kept. */
  find(taskId: string, body: EncodedBody): string | undefined {
    const last = this.#byTask.get(taskId);
    return last !== undefined && last.hash === hashOf(body) ? last.digest : undefined;
  }

  keep(taskId: string, body: EncodedBody, phase: PolledRecord['phase'], digest: string): void {
    // What has ended is not polled again.
    if (ENDED.has(phase) || body.bytes.length > LONGEST) this.#byTask.delete(taskId);
    else setNewest(this.#byTask, taskId, { hash: hashOf(body), digest }, MOST_TASKS);
  }
}

const ENDED: ReadonlySet<PolledRecord['phase']> = new Set(['completed', 'failed']);

function hashOf({ bytes, encoding }: EncodedBody): string {
  return encoding + hash('sha256', bytes, 'base64');
}
