import { metricMeter } from '@temporalio/workflow';
import { METRICS, type MetricKey, type MetricLabels, OTHER } from '../domain/metrics';
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

function add<Key extends MetricKey>(key: Key, value: number, labels: MetricLabels<Key>): void {
  const { name, help } = METRICS[key];
  metricMeter.createCounter(name, undefined, help).add(value, labels);
}
