import { metricMeter } from '@temporalio/workflow';
import { ENDED_VIDEO_METRICS, OTHER } from '../domain/ended-video-metrics';
import { type MetricLabels } from '../domain/metrics';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';

/** A full account name; an untyped caller may pass anything as the account of a task. */
const ACCOUNT = /^[\w.-]{1,64}@[0-9a-f]{8}$/;

/**
 * Counts the outcome of a video. Images are counted where their call is answered. Makes no command and does nothing in a
 * replay; a workflow task that is tried again, and a run that was reset, count once more.
 */
export function countEndedVideo(outcome: VideoOutcome | ImageOutcome): void {
  const video = 'video' in outcome ? outcome.video : null;
  const account = ACCOUNT.test(video?.account ?? '') ? (video?.account ?? OTHER) : OTHER;
  const { state, estimate, currency } = outcome.billing;
  add('videoEnds', 1, { account, outcome: outcome.outcome, billing: state });
  if (state !== 'settled' && state !== 'needs_review') return;
  if (estimate !== null && currency !== null) add('videoCost', estimate, { account, currency, state });
}

function add<Key extends keyof typeof ENDED_VIDEO_METRICS>(
  key: Key,
  value: number,
  labels: MetricLabels<Key>,
): void {
  const { name, help } = ENDED_VIDEO_METRICS[key];
  metricMeter.createCounter(name, undefined, help).add(value, labels);
}
