import { ResultsMerger } from './merge-results';
import { newSegments, readSegment } from './read-results';
import { type ReportFolder } from './report-folder';
import { type ReportOptions } from './report-options';
import { shortHash, type ReportState } from './report-state';

/** What the state says of the results from now on, and the pages that have new ones. */
export interface MergedResults extends Pick<ReportState, 'segments' | 'indexes' | 'rowGeneration'> {
  readonly touched: ReadonlySet<number>;
}

/** Puts the rows of unknown segments into their pages. */
export async function mergeSegments(
  folder: ReportFolder,
  { store, results, signal }: Pick<ReportOptions, 'store' | 'results' | 'signal'>,
  before: ReportState,
): Promise<MergedResults> {
  const segments = new Set(before.segments);
  const indexes = new Set(before.indexes);
  const merger = new ResultsMerger(folder, Math.max(before.rowGeneration, results.generation));
  const isKnown = {
    segment: (sha256: string) => segments.has(shortHash(sha256)),
    index: (sha256: string) => indexes.has(shortHash(sha256)),
  };
  for await (const next of newSegments(store, results, isKnown)) {
    signal?.throwIfAborted();
    if ('index' in next) {
      indexes.add(shortHash(next.index));
      continue;
    }
    for (const row of await readSegment(store, next.segment)) await merger.add(row);
    segments.add(shortHash(next.segment));
  }
  await merger.flush();
  return {
    touched: merger.touched,
    segments: [...segments],
    indexes: [...indexes],
    rowGeneration: merger.rowGeneration,
  };
}
