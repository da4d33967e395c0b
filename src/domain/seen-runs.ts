import { type PollBatch } from './poll-answers';

type Seen = Pick<PollBatch, 'seen' | 'seenRuns'>;

/** Digests one by one, or in runs where there are half as many: most tasks were last seen in the state of their neighbours. */
export function shortSeen(digests: readonly string[]): Seen {
  const seenRuns: (readonly [string, number])[] = [];
  for (const digest of digests) {
    const last = seenRuns.at(-1);
    if (last?.[0] === digest) seenRuns[seenRuns.length - 1] = [digest, last[1] + 1];
    else seenRuns.push([digest, 1]);
  }
  // A worker of before knows no runs: to it nothing was seen, and it answers with records that are known already.
  return seenRuns.length * 2 <= digests.length ? { seen: [], seenRuns } : { seen: digests };
}

/** The digest of each task of a batch. */
export function seenOf({ seen, seenRuns }: Seen): readonly string[] {
  return seenRuns === undefined
    ? seen
    : seenRuns.flatMap(([digest, tasks]) => Array<string>(tasks).fill(digest));
}
