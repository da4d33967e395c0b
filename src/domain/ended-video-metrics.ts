export interface MetricDefinition {
  /** The last part of the name is the unit, if the metric has one. */
  readonly name: `temporal_media_${string}`;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** Each label has few values. A label's value is never a key, prompt, URL, task id or creation key. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Suggested upper bounds of a histogram's buckets, for exporters that accept them. */
  readonly buckets?: readonly number[];
}

/**
 * Metrics that workflows record. They are in a separate file because everything that workflows import ends up in every
 * workflow bundle.
 */
export const ENDED_VIDEO_METRICS = {
  videoEnds: {
    name: 'temporal_media_video_ends',
    kind: 'counter',
    labels: ['account', 'outcome', 'billing'],
    help: 'Outcomes of video workflows and campaign row attempts, with their billing state.',
  },
  videoCost: {
    name: 'temporal_media_video_cost_micro_units',
    kind: 'counter',
    labels: ['account', 'currency', 'state'],
    help: 'Cost of ended videos, in millionths of the currency unit: settled (billed), or the estimate: estimated or needs_review.',
  },
} as const satisfies { readonly [key: string]: MetricDefinition };

/** Stands in for a label value that would create too many time series. */
export const OTHER = 'other';
