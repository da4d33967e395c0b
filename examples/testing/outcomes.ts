import { completedVideo, failedVideo, unconfirmedVideo } from '@temporal-media/testing';
import { type VideoOutcome } from 'temporal-media';

/** Your code that interprets an outcome. */
export function headline(outcome: VideoOutcome): string {
  if (outcome.outcome === 'completed') return `ready: ${outcome.artifact.uri}`;
  if (outcome.outcome === 'failed' && outcome.retryable) return 'busy, try again';
  return outcome.outcome === 'unconfirmed' ? 'ask a person' : 'not today';
}

test.each([
  [completedVideo({ artifact: { sha256: 'a'.repeat(64) } }), `ready: artifact:sha256/${'a'.repeat(64)}`],
  [failedVideo({ error: { kind: 'capacity' } }), 'busy, try again'],
  [failedVideo({ error: { kind: 'moderation' } }), 'not today'],
  [unconfirmedVideo(), 'ask a person'],
])('a headline', (outcome, expected) => {
  expect(headline(outcome)).toBe(expected);
});
