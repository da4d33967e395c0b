import { type JsonValue } from './json';
import { type ReportedFacts } from './poll-answers';
import { type ArtifactRef } from './request';
import { type VideoTask } from './video-task';

export interface DownloadVideoInput {
  readonly video: VideoTask;
  /** Set only if the caller wants the prompt in the sidecar (architecture: Stores). */
  readonly sidecarPrompt?: string;
  /** A failed first attempt by a delivery. It counts as an attempt, and the next attempt respects its Retry-After. */
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

/** Why a location did not provide the video. Public names, also used as the class of a retryable failure. */
export type DownloadProblemKind =
  /** 404, 400, 409 and any other form of "not found" without a reason. */
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
  /** The address filter blocked the location, so nothing was sent there. */
  | 'blocked'
  /** JSON, HTML, text or an empty body instead of the video. */
  | 'not_video'
  /**
   * A complete body that contains a damaged or truncated file, or a partial response to a request for the whole file.
   */
  | 'incomplete_file'
  /** Content that a retry will not turn into a video: an image, a file without a video track, an encoded body. */
  | 'no_picture'
  | 'too_large'
  | 'storage';

export interface DownloadProblem {
  readonly kind: DownloadProblemKind;
  /** Text written by this package, without paths or text from the service. Contains at most the origin of a URL. */
  readonly message: string;
  readonly httpStatus?: number;
  /** Lower bound in milliseconds. */
  readonly retryAfterMs?: number;
  readonly rejected?: ArtifactRef;
  /** True if another attempt cannot help. */
  readonly final?: true;
}

/** Maximum number of videos per delivery, and of open deliveries per watcher or batch. */
export const DELIVERY = { videos: 25, open: 4 } as const;

export interface FailedTry {
  readonly problem: DownloadProblem;
  /** Whether the result still exists according to the service, although this attempt received none of its bytes. */
  readonly lives: boolean;
}

export type Downloaded = Extract<DownloadVideoResult, { outcome: 'downloaded' }>;

/** Limits of `media.downloadVideo` (architecture: Download). Times are in milliseconds. */
export interface DownloadBounds {
  /** Total number of attempts. The last attempt returns its problem instead of throwing it. */
  readonly maxTries: number;
  /** Time without a new byte after which the download is no longer retried. */
  readonly windowMs: number;
  /**
   * Replaces `maxTries` as long as the download location is unavailable (5xx, 429, no connection) but the record says
   * that the result exists. Waiting loses nothing, and a person could only resume the download.
   */
  readonly livingTries: number;
  readonly livingWindowMs: number;
  /** Delay between attempts after `maxTries` attempts. */
  readonly livingDelayMs: number;
  /** How many complete but damaged files, or expired links, are tolerated before the problem is reported. */
  readonly maxSameFault: number;
  /** First delay between attempts. It doubles up to `maxDelayMs` and is never below the general polling interval. */
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** Delay after a 401 or 403 from the service itself. */
  readonly authDelayMs: number;
  readonly tryDeadlineMs: number;
  /** An attempt is abandoned if its body delivers fewer than `minBytesPerRateWindow` bytes in this time. */
  readonly rateWindowMs: number;
  readonly minBytesPerRateWindow: number;
  readonly maxBytes: number;
}

/** The activity enforces these limits itself, so its retry policy must allow at least as much. */
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
