import { ENDED_VIDEO_METRICS, type MetricDefinition } from './ended-video-metrics';

/**
 * All metrics of this package. `model` is a configured model, or one for which the service has accepted a call; all
 * others are `other`.
 */
export const METRICS = {
  calls: {
    name: 'temporal_media_calls',
    kind: 'counter',
    labels: ['operation', 'account', 'model', 'outcome', 'reason'],
    help: 'Paid calls that this worker has answered, without those whose recorded answer was returned again.',
  },
  unconfirmed: {
    name: 'temporal_media_unconfirmed_calls',
    kind: 'counter',
    labels: ['account'],
    help: 'Paid calls of unknown fate, also those of a sender that was lost. Each may have cost money.',
  },
  estimated: {
    name: 'temporal_media_estimated_micro_units',
    kind: 'counter',
    labels: ['operation', 'account', 'model', 'currency', 'fate'],
    help: 'Estimates of sent calls that cost or may cost, in millionths of the currency, by what became of the call.',
  },
  unpriced: {
    name: 'temporal_media_unpriced_calls',
    kind: 'counter',
    labels: ['operation', 'account', 'model'],
    help: 'Sent calls that cost or may cost and have no estimate: their price is unknown, not zero.',
  },
  internalErrors: {
    name: 'temporal_media_internal_errors',
    kind: 'counter',
    labels: [],
    help: 'Mistakes of this package that an activity has met. Each has its stack in the log, at ERROR.',
  },
  images: {
    name: 'temporal_media_images',
    kind: 'counter',
    labels: ['account', 'model', 'outcome'],
    help: 'Images of accepted calls: stored, or lost although they are paid for.',
  },
  imageCost: {
    name: 'temporal_media_image_cost_micro_units',
    kind: 'counter',
    labels: ['account', 'model', 'currency', 'state'],
    help: 'Estimates of accepted image calls in millionths of the currency: settled, or needs_review.',
  },
  polls: {
    name: 'temporal_media_polls',
    kind: 'counter',
    labels: ['account', 'answer'],
    help: 'Polled videos by answer: unchanged, record, held (not sent before Retry-After), or the class of the error.',
  },
  inFlight: {
    name: 'temporal_media_videos_in_flight',
    kind: 'gauge',
    labels: ['account'],
    help: 'Videos that this worker has polled within the last intervals and that had no final record.',
  },
  watchJoins: {
    name: 'temporal_media_watch_joins',
    kind: 'counter',
    labels: ['result'],
    help: 'Videos with shared polling that joined a watcher, and those that looked for theirs after ten minutes: joined; kept; rejoined, because it had lost them; unanswered, because it did not answer.',
  },
  watchEnds: {
    name: 'temporal_media_watch_ends',
    kind: 'counter',
    labels: ['result'],
    help: 'Messages of watchers to their videos: told; full, so that the video asks another watcher; gone, where the video had ended or had been told before.',
  },
  watchersOpen: {
    name: 'temporal_media_watchers_open',
    kind: 'gauge',
    labels: [],
    help: 'Open watchers of the task queue, as this worker last saw them.',
  },
  watchersReplaced: {
    name: 'temporal_media_watchers_replaced',
    kind: 'counter',
    labels: [],
    help: 'Watchers that were terminated or had failed and whose videos this worker has joined to another run.',
  },
  detection: {
    name: 'temporal_media_detection_window_milliseconds',
    kind: 'histogram',
    labels: ['account'],
    help: 'Time between the poll that found a video finished and the one before it: the longest time for which its end was not noticed.',
    buckets: [1_000, 3_000, 5_000, 7_500, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000],
  },
  downloadTries: {
    name: 'temporal_media_download_tries',
    kind: 'counter',
    labels: ['account', 'result'],
    help: 'Tries to download a video: downloaded, or the kind of the problem.',
  },
  downloads: {
    name: 'temporal_media_downloads',
    kind: 'counter',
    labels: ['account', 'outcome', 'reason'],
    help: 'Downloads that have ended: downloaded, or content_unavailable after all tries.',
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
    help: 'Refusals in effect for an account (key, quota) or for models of it: all calls like the refused one wait.',
  },
  gateClosings: {
    name: 'temporal_media_gate_closings',
    kind: 'counter',
    labels: ['account', 'scope', 'reason'],
    help: 'Refusals that have come into effect for an account or a model.',
  },
  spend: {
    name: 'temporal_media_spend_micro_units',
    kind: 'gauge',
    labels: ['account', 'currency', 'per'],
    help: 'Spent or reserved in the current window of a spend limit, in millionths of the currency, as of the last call.',
  },
  spendLimit: {
    name: 'temporal_media_spend_limit_micro_units',
    kind: 'gauge',
    labels: ['account', 'currency', 'per'],
    help: 'The spend limit of an account in millionths of the currency, as of the last call.',
  },
  journalLatency: {
    name: 'temporal_media_journal_latency_milliseconds',
    kind: 'histogram',
    labels: ['operation', 'kind'],
    help: 'Time that an operation of the journal took, by the kind of its store, failed ones included.',
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000],
  },
  journalFailures: {
    name: 'temporal_media_journal_failures',
    kind: 'counter',
    labels: ['operation', 'kind'],
    help: 'Operations of the journal that failed. While they fail, nothing is sent.',
  },
  accountsServed: {
    name: 'temporal_media_accounts_served',
    kind: 'gauge',
    labels: [],
    help: 'Accounts that this worker has.',
  },
  ...ENDED_VIDEO_METRICS,
} as const satisfies { readonly [key: string]: MetricDefinition };

/** Names of the metrics that a worker reports, without prefix and unit. docs/metrics.md explains each one. */
export type MetricKey = keyof typeof METRICS;

/** A value for each of a metric's labels. */
export type MetricLabels<Key extends MetricKey> = {
  readonly [label in (typeof METRICS)[Key]['labels'][number]]: string;
};

/** Receives the metrics that parts of a worker report. */
export interface Metrics {
  /** Adds to a counter, sets a gauge, or records a value of a histogram. Values are whole and not negative. */
  record<Key extends MetricKey>(key: Key, value: number, labels: MetricLabels<Key>): void;
}

/** For activities that run without a worker of this package. */
export const NO_METRICS: Metrics = { record: () => undefined };

/** Wraps metrics so that their failures affect nothing: a paid call must not fail because of a metric. */
export function unfailing(metrics: Metrics): Metrics {
  if (metrics === NO_METRICS) return metrics;
  return {
    record: (key, value, labels) => {
      try {
        metrics.record(key, value, labels);
      } catch (_error) {
        // What is being counted matters more.
      }
    },
  };
}
