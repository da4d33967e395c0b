import { type JsonValue } from './json';
import { type ReportedFacts } from './poll-answers';
import { type ArtifactRef } from './request';
import { type VideoTask } from './video-task';

export interface DownloadVideoInput {
  readonly video: VideoTask;
  /** Written into the sidecar only when the caller asked for it (architecture: Stores). */
  readonly sidecarPrompt?: string;
}

/** Why a completed video could not be fetched (architecture: Download). */
export type ContentUnavailableReason =
  | 'not_ready'
  | 'expired'
  | 'not_video'
  | 'incomplete_file'
  | 'auth'
  | 'blocked'
  | 'storage';

export type DownloadVideoResult =
  | {
      readonly outcome: 'downloaded';
      readonly artifact: ArtifactRef;
      /** Sidecar JSON of the kept facts, as an artifact of its own. */
      readonly sidecar: ArtifactRef | null;
      readonly reported: ReportedFacts;
      readonly usage?: JsonValue;
      readonly warnings: readonly string[];
    }
  | {
      readonly outcome: 'content_unavailable';
      readonly reason: ContentUnavailableReason;
      readonly message: string;
      readonly tries: number;
      /** The refused bytes, kept for inspection. */
      readonly rejected: ArtifactRef | null;
      readonly httpStatus?: number;
    };

/** A video that is stored. */
export type Downloaded = Extract<DownloadVideoResult, { outcome: 'downloaded' }>;

/** Bounds of `media.downloadVideo` (C4.2, C8.6, architecture: Download); times in milliseconds. */
export interface DownloadBounds {
  /** Tries in total; the last one returns instead of throwing. */
  readonly maxTries: number;
  /** Time without a new byte after which no further try is made. */
  readonly windowMs: number;
  /**
   * The same while the download location is unavailable (5xx, 429, no connection) and the record says that the result
   * exists: waiting loses nothing, and a person could only resume.
   */
  readonly livingTries: number;
  readonly livingWindowMs: number;
  /** Delay between tries once the ordinary ones are over. */
  readonly livingDelayMs: number;
  /** Complete but damaged files, or links that say that they expired, before that is reported. */
  readonly maxSameFault: number;
  /** First delay between tries; doubles up to `maxDelayMs`. Never below the general polling interval (C8.2). */
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** Delay after 401 or 403 from the service itself (C7.3). */
  readonly authDelayMs: number;
  /** Time limit of one try. */
  readonly tryDeadlineMs: number;
  /** A try is given up when its body brings fewer bytes than `minBytesPerRateWindow` in this time. */
  readonly rateWindowMs: number;
  readonly minBytesPerRateWindow: number;
  /** Largest video, in bytes. */
  readonly maxBytes: number;
}

/** The activity ends its tries itself, so a retry policy must allow at least this much. */
export const DOWNLOAD_BOUNDS: DownloadBounds = {
  maxTries: 20,
  windowMs: 600_000,
  livingTries: 320,
  livingWindowMs: 24 * 60 * 60_000,
  livingDelayMs: 300_000,
  maxSameFault: 3,
  minDelayMs: 4_000,
  maxDelayMs: 60_000,
  authDelayMs: 60_000,
  tryDeadlineMs: 1_800_000,
  rateWindowMs: 60_000,
  minBytesPerRateWindow: 60 * 1024,
  maxBytes: 8 * 1024 ** 3,
};
