import { createHash } from 'node:crypto';
import { type DownloadProblemKind } from './download-problem';

/** What one try leaves for the next one in its heartbeat: no address, no path. Times in milliseconds since the epoch. */
export interface DownloadProgress {
  readonly v: 1;
  /** Digest of the activity execution: nobody else continues its part. */
  readonly owner: string;
  windowStart: number;
  /** Digest of the place that the part's bytes came from. */
  place: string | null;
  /** Strong ETag of the part's bytes; without one there is no resuming. */
  etag: string | null;
  /** Length of the whole file, when the service said it. */
  length: number | null;
  /** Bytes in the part. */
  position: number;
  /** Tries that workers without the account made. */
  elsewhere: number;
  fault: DownloadProblemKind | null;
  sameFault: number;
}

export function digestOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

export function freshProgress(owner: string, windowStart: number): DownloadProgress {
  return {
    v: 1,
    owner,
    windowStart,
    place: null,
    etag: null,
    length: null,
    position: 0,
    elsewhere: 0,
    fault: null,
    sameFault: 0,
  };
}

/** The last try's progress; undefined when there is none, or it belongs to another execution. */
export function readProgress(details: unknown, owner: string): DownloadProgress | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  const given = details as Partial<DownloadProgress>;
  if (given.v !== 1 || given.owner !== owner || !Number.isFinite(given.windowStart)) return undefined;
  return { ...freshProgress(owner, given.windowStart!), ...given, owner, v: 1 };
}

/** Counts how often the same kind of fault came in a row; that a worker lacks the account is no fault of the download. */
export function noteFault(progress: DownloadProgress, kind: DownloadProblemKind): void {
  if (kind === 'account_not_configured') {
    progress.elsewhere += 1;
    return;
  }
  progress.sameFault = progress.fault === kind ? progress.sameFault + 1 : 1;
  progress.fault = kind;
}

/** Owner of a part: one execution, one place, one entity. Bytes of two entities never meet in one part (failure model: Foreign bytes). */
export function partOwner(owner: string, place: string, etag: string | null): string {
  return digestOf(owner, place, etag ?? '');
}
