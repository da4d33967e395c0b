import { ACTIVITY } from '../../../src/domain/names';
import { deferred } from '../../support/deferred';
import { pendingOf, type Cell, type Operator } from './cell';
import { startFlakyWorker } from './flaky-worker';
import { ONCE, OPERATIONS, type Schedule } from './schedule';

/** What an operator may do to a paid activity that runs (failure model: rows 10, 11 and 15). */
const COMMANDS: readonly {
  readonly name: string;
  readonly reconciled?: true;
  readonly inChange: readonly string[];
  readonly operate: (operator: Operator) => Promise<void>;
}[] = [
  {
    name: 'paused and unpaused',
    inChange: ['create_video'],
    operate: async (operator) => {
      await operator.pause();
      await operator.unpause();
    },
  },
  { name: 'reset', inChange: ['create_video', 'generate_image'], operate: (operator) => operator.reset() },
  {
    name: 'given more attempts',
    inChange: [],
    operate: (operator) => operator.update({ maximumAttempts: 7 }),
  },
  {
    name: 'given more attempts and less time, so that its sender is a zombie whose reply comes after the timeout',
    reconciled: true,
    inChange: ['create_video', 'generate_image'],
    operate: (operator) => operator.update({ maximumAttempts: 7, startToClose: '2s' }),
  },
];

const whileItRuns = OPERATIONS.flatMap((operation) =>
  COMMANDS.map(({ name, inChange, operate, reconciled }): Schedule => ({
    operation,
    name: `${name} while the request is on its way`,
    rules: '[C4.4a]',
    size: inChange.includes(operation) ? 'change' : 'deep',
    expected: ONCE,
    commands: reconciled === true && operation === 'create_video' ? 'reconciled' : 'golden',
    run: async (cell) => {
      await cell.slow();
      const handle = await cell.start();
      await cell.sent();
      await operate(cell.operate(handle));
      return [await cell.outcome(handle)];
    },
  })),
);

/** The activity breaks after its outcome was recorded: its result is lost on the way, and an operator helps. */
const BREAKS: readonly {
  readonly name: string;
  readonly inChange: readonly string[];
  /** Attempts that the command makes of the create. */
  readonly attempts: number;
  readonly before?: (operator: Operator) => Promise<void>;
  readonly after?: (operator: Operator) => Promise<void>;
}[] = [
  { name: 'nobody helps', inChange: ['create_video'], attempts: 1 },
  {
    name: 'it is paused before and unpaused after',
    inChange: ['create_video', 'generate_image'],
    attempts: 2,
    before: (operator) => operator.pause(),
    after: (operator) => operator.unpause(),
  },
  {
    name: 'it was given more attempts',
    inChange: ['create_video'],
    attempts: 2,
    before: (operator) => operator.update({ maximumAttempts: 7 }),
  },
  {
    // A reset does not add to the attempts that its policy allows.
    name: 'it is reset before',
    inChange: [],
    attempts: 1,
    before: (operator) => operator.reset(),
  },
];

const whenItBreaks = OPERATIONS.flatMap((operation) =>
  BREAKS.map(({ name, inChange, attempts, before, after }): Schedule => ({
    operation,
    name: `its result is lost after the record, and ${name}`,
    rules: '[C4.4a] [C4.4b]',
    size: inChange.includes(operation) ? 'change' : 'deep',
    expected: ONCE,
    commands: operation === 'create_video' && attempts === 1 ? 'reconciled' : 'golden',
    run: async (cell) => {
      const { flaky } = cell.bench;
      const recorded = deferred<void>();
      const gate = deferred<void>();
      let seen = 0;
      flaky.script(cell.prompt, async (real, attempt) => {
        seen = attempt;
        const answer = await real();
        if (attempt > 1) return answer;
        recorded.resolve();
        await gate.promise;
        throw new Error('the result is lost');
      });
      const handle = await cell.startOn(flaky.taskQueue);
      await recorded.promise;
      const operator = cell.operate(handle);
      await before?.(operator);
      gate.resolve();
      if (after !== undefined) {
        await cell.until('the failed attempt', async () => (await failuresOf(cell, handle)) > 0);
        await after(operator);
      }
      const outcome = await cell.outcome(handle);
      // The fault must have bitten: an image activity is retried in any case.
      expect(seen).toBe(operation === 'create_video' ? attempts : 2);
      return [outcome];
    },
  })),
);

async function failuresOf(cell: Cell, handle: Parameters<typeof pendingOf>[0]): Promise<number> {
  const pending = await pendingOf(handle);
  return pending.filter((one) => one.activityType?.name === cell.kind.activity && one.lastFailure != null)
    .length;
}

/** Reads may be interfered with as much as anybody likes. */
const whileItReads = (['pollVideos', 'downloadVideo'] as const).flatMap((activity) =>
  (['paused and unpaused', 'reset'] as const).map((name): Schedule => ({
    operation: 'create_video',
    name: `its ${activity} is ${name}`,
    rules: '[C3.3]',
    size: 'deep',
    expected: ONCE,
    commands: 'golden',
    run: async (cell) => {
      const operation = activity === 'pollVideos' ? 'poll' : 'content';
      await cell.fault({ type: 'delay', ms: 4_000 }, 1, operation);
      const handle = await cell.start();
      await cell.asked(operation);
      const operator = cell.operate(handle, ACTIVITY[activity]);
      if (name === 'reset') await operator.reset();
      else {
        await operator.pause();
        await operator.unpause();
      }
      return [await cell.outcome(handle)];
    },
  })),
);

/** A deployment: what is under way is finished first, and what comes after is another worker's (row 12). */
const drained = OPERATIONS.map((operation): Schedule => ({
  operation,
  name: 'its worker is told to stop while the request is on its way',
  rules: '[C4.4a]',
  size: operation === 'create_video' ? 'change' : 'deep',
  expected: ONCE,
  commands: 'golden',
  run: async (cell) => {
    await cell.slow();
    const leaving = await startFlakyWorker(cell.bench.stack);
    const handle = await cell.startOn(leaving.taskQueue);
    await cell.sent();
    await leaving.stop();
    return [await cell.outcome(handle)];
  },
}));

/** Nobody serves the create queue while the create's fate is looked up (failure model: The log). */
const awayDuringReconcile: Schedule = {
  operation: 'create_video',
  name: 'its result is lost after the record, and no worker is there for the reconciliation until later',
  rules: '[C4.4b]',
  size: 'change',
  expected: ONCE,
  commands: 'reconciled',
  run: async (cell) => {
    const leaving = await startFlakyWorker(cell.bench.stack);
    const recorded = deferred<void>();
    leaving.script(cell.prompt, async (real) => {
      await real();
      recorded.resolve();
      throw new Error('the result is lost');
    });
    const handle = await cell.startOn(leaving.taskQueue);
    await recorded.promise;
    await leaving.stop();
    await cell.pending(handle, ACTIVITY.reconcileCreate);
    const coming = await startFlakyWorker(cell.bench.stack, leaving.taskQueue);
    try {
      return [await cell.outcome(handle)];
    } finally {
      await coming.stop();
    }
  },
};

export const operatorSchedules: readonly Schedule[] = [
  ...whileItRuns,
  ...whenItBreaks,
  ...whileItReads,
  ...drained,
  awayDuringReconcile,
];
