import { startMediaStack, type MediaStack } from '../support/media-stack';
import { describeDeep, proved } from '../support/proof';
import { judgeLanes, NO_COUNTS, type LaneCounts } from './kills/judge-lane';
import { killLane } from './kills/kill-lane';
import { seededRandom } from './kills/seeded-random';

const SEED = Number(process.env['PROOF_SEED'] ?? 1);
/** Each with a service of its own. */
const STACKS = 10;
const LANES_PER_STACK = 1;
const KILLS_PER_LANE = 100;
/** No round begins after this: on a slow machine the deep size tells how far it came. */
const ROUNDS_MS = 75 * 60_000;
const LIMIT_MS = ROUNDS_MS + 15 * 60_000;

/**
 * Workers are killed at random times of a run with ten videos in flight, over creates that take half a second. The
 * service's log and the journal's files tell for every create whether the kill came between "intent durable" and "answer
 * durable": outside nobody is needed, inside it ends unconfirmed unless a heartbeat named its task, and nowhere is
 * anything sent again by itself.
 */
describeDeep('workers killed at random times', () => {
  const counts: LaneCounts = { ...NO_COUNTS };
  const stacks: MediaStack[] = [];

  it(
    `[C4.4a] [C4.4c] end every create as its records say (PROOF_SEED=${SEED})`,
    async () => {
      const started = Date.now();
      const results = await allOf(
        Array.from({ length: STACKS }, async (_, number) => {
          const stack = await startMediaStack({
            sandbox: {
              timing: { queuedMs: 0, runningMs: 500 },
              videos: 'shared',
              faults: [{ operation: 'create', times: 0, action: { type: 'delay', ms: 500 } }],
            },
          });
          stacks.push(stack);
          const lanes = await allOf(
            Array.from({ length: LANES_PER_STACK }, (_, lane) =>
              killLane(stack, {
                kills: KILLS_PER_LANE,
                untilMs: started + ROUNDS_MS,
                random: seededRandom(SEED * 1_000 + number * LANES_PER_STACK + lane),
              }),
            ),
          );
          return judgeLanes(stack, lanes);
        }),
      );
      for (const result of results)
        for (const what of Object.keys(counts) as (keyof LaneCounts)[]) counts[what] += result.counts[what];
      expect(results.flatMap(({ problems }) => problems)).toEqual([]);
      // A run in which no kill came into the window, or none outside of it, has shown nothing.
      expect(counts['open creates hit inside the window']).toBeGreaterThan(0);
      expect(counts['open creates hit outside the window']).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  afterAll(async () => {
    await Promise.all(stacks.map((stack) => stack.stop()));
  });

  afterAll(() => proved('kill-random', { ...counts }));
});

/** Rejects only when all have ended: nothing is torn down under a lane that still runs. */
async function allOf<T>(lanes: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(lanes);
  return Promise.all(lanes);
}
