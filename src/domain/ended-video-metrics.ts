export interface MetricDefinition {
  /** With the unit as its last word where it has one. */
  readonly name: `temporal_media_${string}`;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** Of few values each: never a key, prompt, address, task id or creation key. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Upper bounds of a histogram that fit its values, for an exporter that can be told them. */
  readonly buckets?: readonly number[];
}

/** Metrics that workflows record. They are apart from the others because all that workflows import is in every bundle. */
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

/** In place of a value that is not one of few. */
export const OTHER = 'other';
