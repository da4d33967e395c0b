import { startMediaStack } from '../support/media-stack';
import { describeDeep, proved } from '../support/proof';
import { DISTURBANCES } from './campaign-resets/disturb';
import { createQueueOf, type DisturbedRun, runDisturbed } from './campaign-resets/run-disturbed';

const SEED = Number(process.env['PROOF_SEED'] ?? 1);
const RUNS = Number(process.env['PROOF_RUNS'] ?? 200);
/** Campaigns at a time, with a service and a worker of their own. */
const AT_ONCE = 16;
const LIMIT_MS = 600_000;

const groups = Array.from({ length: Math.ceil(RUNS / AT_ONCE) }, (_, group) => {
  const first = SEED + group * AT_ONCE;
  return { first, runs: Math.min(AT_ONCE, SEED + RUNS - first) };
});

/**
 * Campaigns that are reset to their first task, to their last, and of which a batch is reset, while there is money for
 * three quarters of their rows; and others that are terminated, started again and reset in any order. The service counts
 * what it accepted, and the campaign is asked for its budget all the time.
 */
describeDeep('the budget of campaigns that are reset and terminated', () => {
  const done: DisturbedRun[] = [];

  it.each(groups)(
    '[C4.4a] is spent to the last micro-unit and never beyond it (PROOF_SEED=$first PROOF_RUNS=$runs)',
    async ({ first, runs }) => {
      const stack = await startMediaStack({
        sandbox: {
          timing: { queuedMs: 0, runningMs: 500 },
          videos: 'shared',
          faults: [{ operation: 'create', times: 0, action: { type: 'delay', ms: 200 } }],
        },
      });
      try {
        await stack.startWorker();
        // Creates wait for each other: those of batches that are gone, or closed meanwhile, still come.
        await stack.startWorker({
          env: { MEDIA_TASK_QUEUE: createQueueOf(stack) },
          worker: { maxConcurrentActivityTaskExecutions: 2 },
          ownConnection: true,
        });
        const seeds = Array.from({ length: runs }, (_, n) => first + n);
        const ended = await Promise.all(seeds.map((seed) => runDisturbed(stack, seed)));
        done.push(...ended);
        const problems = ended.flatMap((run, n) =>
          run.problems.map((problem) => `seed ${seeds[n]}: ${problem}`),
        );
        expect(problems).toEqual([]);
      } finally {
        await stack.stop();
      }
    },
    LIMIT_MS,
  );

  afterAll(() => {
    const sum = (of: (run: DisturbedRun) => number) => done.reduce((all, run) => all + of(run), 0);
    const times = DISTURBANCES.map(
      (what) => [what, sum(({ disturbances }) => disturbances.filter((one) => one === what).length)] as const,
    );
    proved('campaign-resets', {
      runs: done.length,
      ...(Object.fromEntries(times) as Record<string, number>),
      'rows bought': sum(({ bought }) => bought),
      'times a budget was asked for': sum(({ looks }) => looks),
      'rows bought for money that is not there': sum(({ aboveBudget }) => aboveBudget),
      'rows bought twice': sum(({ twice }) => twice),
      'rows not bought although there was money': sum(({ notBought }) => notBought),
      'budgets and results that do not add up': sum(({ problems }) => problems.length),
    });
  });
});
