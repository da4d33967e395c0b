import { ENDED_VIDEO_METRICS, type MetricDefinition } from './ended-video-metrics';

/**
 * All metrics that this package emits. The `model` label is a configured model, or one for which the service has
 * accepted a call. For any other model, it is `other`.
 */
export const METRICS = {
  calls: {
    name: 'temporal_media_calls',
    kind: 'counter',
    labels: ['operation', 'account', 'model', 'outcome', 'reason'],
    help: 'Paid calls that this worker handled, excluding those answered from an earlier record.',
  },
  unconfirmed: {
    name: 'temporal_media_unconfirmed_calls',
    kind: 'counter',
    labels: ['account'],
    help: 'Paid calls with an unknown outcome, including those whose sender was lost. Each may have cost money.',
  },
  estimated: {
    name: 'temporal_media_estimated_micro_units',
    kind: 'counter',
    labels: ['operation', 'account', 'model', 'currency', 'fate'],
    help: "Estimated cost of sent calls that were or may have been charged, in millionths of the currency unit, by the call's fate.",
  },
  unpriced: {
    name: 'temporal_media_unpriced_calls',
    kind: 'counter',
    labels: ['operation', 'account', 'model'],
    help: 'Sent calls that were or may have been charged but have no estimate: their price is unknown, not zero.',
  },
  internalErrors: {
    name: 'temporal_media_internal_errors',
    kind: 'counter',
    labels: [],
    help: 'Bugs in this package that an activity ran into. Each is logged at ERROR with its stack trace.',
  },
  images: {
    name: 'temporal_media_images',
    kind: 'counter',
    labels: ['account', 'model', 'outcome'],
    help: 'Images from accepted calls, either stored or paid for but lost.',
  },
  imageCost: {
    name: 'temporal_media_image_cost_micro_units',
    kind: 'counter',
    labels: ['account', 'model', 'currency', 'state'],
    help: 'Cost of accepted image calls, in millionths of the currency unit: settled (billed), or the estimate: estimated or needs_review.',
  },
  polls: {
    name: 'temporal_media_polls',
    kind: 'counter',
    labels: ['account', 'answer'],
    help: 'Polled videos by answer: unchanged, record, held (not sent because of Retry-After), or the error class.',
  },
  inFlight: {
    name: 'temporal_media_videos_in_flight',
    kind: 'gauge',
    labels: ['account'],
    help: 'Videos without a final record that this worker polled within the last few polling intervals.',
  },
  watchJoins: {
    name: 'temporal_media_watch_joins',
    kind: 'counter',
    labels: ['result'],
    help: 'Videos with shared polling that joined a watcher or checked on it after ten minutes: joined; kept, if the watcher still had them; rejoined, if it had lost them; unanswered, if the watcher did not answer.',
  },
  watchEnds: {
    name: 'temporal_media_watch_ends',
    kind: 'counter',
    labels: ['result'],
    help: 'Messages from watchers to their videos: told, if delivered; full, if the video must try another watcher; gone, if the video had ended or had already received it.',
  },
  watchersOpen: {
    name: 'temporal_media_watchers_open',
    kind: 'gauge',
    labels: [],
    help: 'Open watchers on the task queue when this worker last checked.',
  },
  watchersReplaced: {
    name: 'temporal_media_watchers_replaced',
    kind: 'counter',
    labels: [],
    help: 'Terminated or failed watchers whose videos this worker moved to another run.',
  },
  detection: {
    name: 'temporal_media_detection_window_milliseconds',
    kind: 'histogram',
    labels: ['account'],
    help: 'Time between the poll that found a video finished and the previous poll, which is the maximum delay in noticing its end.',
    buckets: [1_000, 3_000, 5_000, 7_500, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000],
  },
  downloadTries: {
    name: 'temporal_media_download_tries',
    kind: 'counter',
    labels: ['account', 'result'],
    help: 'Attempts to download a video: downloaded, or the kind of problem.',
  },
  downloads: {
    name: 'temporal_media_downloads',
    kind: 'counter',
    labels: ['account', 'outcome', 'reason'],
    help: 'Downloads that have ended: downloaded, or content_unavailable after all attempts.',
  },
  downloadedBytes: {
    name: 'temporal_media_downloaded_bytes',
    kind: 'counter',
    labels: ['account'],
    help: 'Bytes of verified and stored videos.',
  },
  gatesClosed: {
    name: 'temporal_media_gates_closed',
    kind: 'gauge',
    labels: ['account', 'scope'],
    help: 'Refusals in effect for an account (key, quota) or its models. All calls they apply to are waiting.',
  },
  gateClosings: {
    name: 'temporal_media_gate_closings',
    kind: 'counter',
    labels: ['account', 'scope', 'reason'],
    help: 'Refusals that took effect for an account or a model.',
  },
  spend: {
    name: 'temporal_media_spend_micro_units',
    kind: 'gauge',
    labels: ['account', 'currency', 'per'],
    help: "Amount spent or reserved in a spend limit's current window, in millionths of the currency unit, as of the last call.",
  },
  spendLimit: {
    name: 'temporal_media_spend_limit_micro_units',
    kind: 'gauge',
    labels: ['account', 'currency', 'per'],
    help: "An account's spend limit, in millionths of the currency unit, as of the last call.",
  },
  journalLatency: {
    name: 'temporal_media_journal_latency_milliseconds',
    kind: 'histogram',
    labels: ['operation', 'kind'],
    help: 'Duration of journal operations, including failed ones, by kind of store.',
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000],
  },
  journalFailures: {
    name: 'temporal_media_journal_failures',
    kind: 'counter',
    labels: ['operation', 'kind'],
    help: 'Failed journal operations. While they fail, nothing is sent.',
  },
  accountsServed: {
    name: 'temporal_media_accounts_served',
    kind: 'gauge',
    labels: [],
    help: 'Accounts that this worker has.',
  },
  ...ENDED_VIDEO_METRICS,
} as const satisfies { readonly [key: string]: MetricDefinition };

/** Names of the metrics that a worker reports, without prefix or unit. docs/metrics.md explains each metric. */
export type MetricKey = keyof typeof METRICS;

/** One value for each label of a metric. */
export type MetricLabels<Key extends MetricKey> = {
  readonly [label in (typeof METRICS)[Key]['labels'][number]]: string;
};

/** Receives the metrics that parts of a worker report. */
export interface Metrics {
  /** Adds to a counter, sets a gauge, or records a histogram value. Values are non-negative integers. */
  record<Key extends MetricKey>(key: Key, value: number, labels: MetricLabels<Key>): void;
}

/** For activities that run without one of this package's workers. */
export const NO_METRICS: Metrics = { record: () => undefined };

/** Wraps metrics so that their failures have no effect: a paid call must not fail because of a metric. */
export function unfailing(metrics: Metrics): Metrics {
  if (metrics === NO_METRICS) return metrics;
  return {
    record: (key, value, labels) => {
      try {
        metrics.record(key, value, labels);
      } catch (_error) {
        // The counted operation matters more than its metric.
      }
    },
  };
}
