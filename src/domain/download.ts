import { type JsonValue } from './json';
import { type ReportedFacts } from './poll-answers';
import { type ArtifactRef } from './request';
import { type VideoTask } from './video-task';

export interface DownloadVideoInput {
  readonly video: VideoTask;
  /** Written into the sidecar only when the caller asked for it (architecture: Stores). */
  readonly sidecarPrompt?: string;
  /** The first try, made by a delivery. It counts, and the next try respects its Retry-After. */
  readonly tried?: FailedTry;
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
      /** Sidecar JSON with the recorded facts, as a separate artifact. */
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
      readonly rejected: ArtifactRef | null;
      readonly httpStatus?: number;
    };

/** Why a location did not provide the video: public names, also used as the class of a retryable failure. */
export type DownloadProblemKind =
  /** 404, 400, 409 and any other "not found here" without a reason. */
  | 'missing'
  /** 410, an error code that says "expired", or 401, 403 or 404 from a signed link on another host. */
  | 'expired'
  /** 401 or 403 from the service itself. */
  | 'credentials'
  | 'account_not_configured'
  | 'rate_limited'
  /** 5xx, 408, 425. */
  | 'unavailable'
  /** Interrupted, stalled, too slow or never connected. */
  | 'network'
  /** The address filter refused the location: nothing was sent there. */
  | 'blocked'
  /** JSON, HTML, text or no bytes at all instead of the video. */
  | 'not_video'
  /** A complete body with a damaged or incomplete file, or a partial file although the whole file was requested. */
  | 'incomplete_file'
  /** Bytes that will not become a video: an image, a file without pictures, an encoded body. */
  | 'no_picture'
  | 'too_large'
  | 'storage';

export interface DownloadProblem {
  readonly kind: DownloadProblemKind;
  /** Our own text, without paths or text from the service. Contains at most the origin of an address. */
  readonly message: string;
  readonly httpStatus?: number;
  /** Lower bound in milliseconds. */
  readonly retryAfterMs?: number;
  readonly rejected?: ArtifactRef;
  /** Another try cannot help. */
  readonly final?: true;
}

/** Videos per delivery, and how many deliveries a watcher or a batch may have open at a time. */
export const DELIVERY = { videos: 25, open: 4 } as const;

export interface FailedTry {
  readonly problem: DownloadProblem;
  /** According to the service, the result still exists, but this try received none of its bytes. */
  readonly lives: boolean;
}

export type Downloaded = Extract<DownloadVideoResult, { outcome: 'downloaded' }>;

/** Bounds of `media.downloadVideo` (architecture: Download); times in milliseconds. */
export interface DownloadBounds {
  /** Tries in total; the last one returns instead of throwing. */
  readonly maxTries: number;
  /** Time without a new byte after which no further try is made. */
  readonly windowMs: number;
  /**
   * As `maxTries`, while the download location is unavailable (5xx, 429, no connection) but the record says that the
   * result exists. Waiting loses nothing, and a person could only resume.
   */
  readonly livingTries: number;
  readonly livingWindowMs: number;
  /** Delay between tries once the ordinary ones are used up. */
  readonly livingDelayMs: number;
  /** How many complete but damaged files, or expired links, are seen before the problem is reported. */
  readonly maxSameFault: number;
  /** First delay between tries; doubles up to `maxDelayMs`. Never below the general polling interval. */
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** Delay after a 401 or 403 from the service itself. */
  readonly authDelayMs: number;
  readonly tryDeadlineMs: number;
  /** A try is abandoned if its body delivers fewer than `minBytesPerRateWindow` bytes in this time. */
  readonly rateWindowMs: number;
  readonly minBytesPerRateWindow: number;
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
