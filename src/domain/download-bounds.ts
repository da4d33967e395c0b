/**
 * Bounds of `media.downloadVideo` (C4.2, C8.6, design 4.7). The activity ends its tries by itself,
 * so a retry policy must allow at least this much.
 */
export const DOWNLOAD_BOUNDS = {
  /** Tries in total; the last one returns instead of throwing. */
  maxTries: 20,
  /** Milliseconds without a new byte after which no further try is made. */
  windowMs: 600_000,
  /** Whole files that were cut or damaged, fetched anew from their start, before `truncated` is reported. */
  maxTruncated: 3,
  /** First delay between tries, in milliseconds; doubles up to `maxDelayMs`. */
  minDelayMs: 2_000,
  maxDelayMs: 60_000,
  /** Delay after 401 or 403 from the service itself, in milliseconds (C7.3). */
  authDelayMs: 60_000,
  /** One try, in milliseconds. */
  tryDeadlineMs: 1_800_000,
  /** A body that brings fewer bytes than this in `rateWindowMs` is given up for this try. */
  minBytesPerRateWindow: 61_440,
  rateWindowMs: 60_000,
  /** Largest body, in bytes (8 GiB). */
  maxBytes: 8 * 1024 ** 3,
} as const;
