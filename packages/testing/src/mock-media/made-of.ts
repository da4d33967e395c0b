import { DEFAULT_POLLING } from 'temporal-media/internal/domain/polling-profile';
import { type Billing, type ArtifactRef, type VideoTask } from 'temporal-media';
import { artifactUri } from 'temporal-media/internal/domain/request';

/** What the outcomes of tests are made of. All times are fixed, so that an outcome is the same in every run. */

/** Time of everything that happened, ISO 8601. */
export const MADE_AT = '2026-01-01T00:00:00.000Z';
/** Estimate of every call: 0.50 USD. */
export const ESTIMATE = { microUnits: 500_000, currency: 'USD' } as const;

/** Fields that a test wants otherwise; those in `Inner` are objects and are completed with their own defaults. */
export type Changes<Outcome, Inner extends keyof Outcome = never> = Partial<
  Omit<Outcome, Inner | 'outcome' | 'billing'>
> & { readonly [Name in Inner]?: Partial<Outcome[Name]> } & { readonly billing?: Partial<Billing> };

/** The kept facts of a task, as every outcome of a created video has them. @default task `task-1` of the model `cine-1` */
export function videoTask(changes: Partial<VideoTask> = {}): VideoTask {
  return {
    taskId: 'task-1',
    model: 'cine-1',
    durationSeconds: 5,
    resolution: '720p',
    referenceMode: 'none',
    account: 'default@00000000',
    polling: DEFAULT_POLLING,
    createdAt: MADE_AT,
    source: 'create_reply',
    ...changes,
  };
}

/**
 * A reference to stored bytes; its uri follows from its hash. No store has such bytes: an activity of yours that reads
 * them needs the sandbox, or a reference that your test has put into a store. @default a video of one megabyte
 */
export function artifactRef(changes: Partial<Omit<ArtifactRef, 'uri'>> = {}): ArtifactRef {
  const sha256 = changes.sha256 ?? '0'.repeat(64);
  return { mediaType: 'video/mp4', bytes: 1_000_000, ...changes, sha256, uri: artifactUri(sha256) };
}
