export interface MetricDefinition {
  /** The last word is the unit, if there is one. */
  readonly name: `temporal_media_${string}`;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** Labels with few values each; never a key, prompt, address, task id or creation key. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Suitable upper bounds for a histogram, for exporters that accept them. */
  readonly buckets?: readonly number[];
}

/**
 * Metrics that workflows record. They are separate from the others because everything that workflows import is in every
 * bundle.
 */
export const ENDED_VIDEO_METRICS = {
  videoEnds: {
    name: 'temporal_media_video_ends',
    kind: 'counter',
    labels: ['account', 'outcome', 'billing'],
    help: 'Outcomes of video workflows and of the attempts of campaign rows, with the state of their billing.',
  },
  videoCost: {
    name: 'temporal_media_video_cost_micro_units',
    kind: 'counter',
    labels: ['account', 'currency', 'state'],
    help: 'Estimates of ended videos in millionths of the currency: settled, or needs_review.',
  },
} as const satisfies { readonly [key: string]: MetricDefinition };

/** Replaces a value that would create too many label values. */
export const OTHER = 'other';
