import { type MediaStack } from '../../support/media-stack';

/** The longest time without any poll around each outage of the worker, in milliseconds. */
export async function pollingGaps(
  stack: MediaStack,
  outages: readonly (readonly [from: number, until: number])[],
): Promise<number[]> {
  const polls = (await stack.sandbox.admin.requests({ operation: 'poll' })).map(({ at }) => at);
  return outages.map(([from]) => {
    const before = polls.filter((at) => at <= from).at(-1) ?? from;
    const after = polls.find((at) => at > from) ?? Date.now();
    return after - before;
  });
}
