import { setNewest } from '../domain/set-newest';
import { type GetVideoResult } from './get-video-result';

/** Tasks whose last reading is kept, and the longest record that is: a record with its pictures in it is read anew. */
const MOST_TASKS = 50_000;
const LONGEST = 2_048;

/**
 * The last reading of each task that is in work. Most polls bring the same bytes as the one before, and comparing them costs
 * a tenth of reading them. In memory only: a record may hold a signed address.
 */
export class RecentReadings {
  readonly #byTask = new Map<string, { readonly bytes: string; readonly result: GetVideoResult }>();

  /** The reading of the same bytes; undefined when they are others, or were not kept. */
  find(taskId: string, bytes: string): GetVideoResult | undefined {
    const last = this.#byTask.get(taskId);
    return last?.bytes === bytes ? last.result : undefined;
  }

  keep(taskId: string, bytes: string, result: GetVideoResult): void {
    // What has ended is not polled again.
    const inWork = result.kind === 'record' && !ENDED.has(result.record.phase);
    if (inWork && bytes.length <= LONGEST) setNewest(this.#byTask, taskId, { bytes, result }, MOST_TASKS);
    else this.#byTask.delete(taskId);
  }
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed']);
