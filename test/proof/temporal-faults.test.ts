import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type WorkflowHandle } from '@temporalio/client';
import { type Started } from '../../src/client';
import { CHANGED, JOURNAL_CHANGES, type JournalChange } from '../support/changed-journal';
import { type MediaStack } from '../support/media-stack';
import { proved, PROOF_SIZE } from '../support/proof';
import { sharedStack } from '../support/shared-stack';
import { makeBench, type Bench } from './temporal-faults/bench';
import { cancelSchedules } from './temporal-faults/cancel-schedules';
import { Cell } from './temporal-faults/cell';
import { openQueue, place, told, UNDER_WAY } from './temporal-faults/journal-changes';
import { expectedOf, judge, type Results } from './temporal-faults/judge';
import { keyMatrix } from './temporal-faults/key-matrix';
import { startKillableServer, type KillableServer } from './temporal-faults/killable-server';
import { operatorSchedules } from './temporal-faults/operator-schedules';
import { type Outcome } from './temporal-faults/paid-kinds';
import { resetSchedules } from './temporal-faults/reset-schedules';
import { type Schedule } from './temporal-faults/schedule';
import { INTERRUPTED } from './temporal-faults/server-kill';
import { standaloneSchedules } from './temporal-faults/standalone-schedules';
import { Tally } from './temporal-faults/tally';
import { timeoutSchedules } from './temporal-faults/timeout-schedules';

const LIMIT_MS = 400_000;
const workflowsPath = join(__dirname, 'temporal-faults', 'workflows', 'buyers.ts');
const sandbox = { timing: { queuedMs: 0, runningMs: 500 } };

const inThisSize = ({ size }: { readonly size: Schedule['size'] }): boolean =>
  size === 'change' || PROOF_SIZE === 'deep';

/** The schedules that wait longest come first: as many run at a time as jest allows. */
const SCHEDULES = [
  ...timeoutSchedules,
  ...resetSchedules,
  ...operatorSchedules,
  ...cancelSchedules,
  ...standaloneSchedules,
  ...keyMatrix,
].filter(inThisSize);

const interrupted = INTERRUPTED.filter(inThisSize);
const placeOf = ({ operation, name }: Omit<Schedule, 'run'>): string => `${operation} ${name}`;

const titleOf = ({ rules = '', operation, name, expected }: Omit<Schedule, 'run'>): string => {
  const { sends, accepted, outcomes } = expected;
  const words = typeof outcomes === 'string' ? `always ${outcomes}` : outcomes.join(', ');
  return `${rules} ${operation} ${name}: ${sends} sent, ${accepted} accepted, ${words}`.trim();
};

/** Everything that Temporal, an operator and a caller can do to a paid call, on the real server (failure model: Every point of failure). */
describe('faults of Temporal', () => {
  const benches = new Map<MediaStack, Bench>();
  const tally = new Tally();
  const results: Results = new Map();
  let cells = 0;

  // Before the stacks are stopped: what comes late is still to be seen.
  afterAll(async () => {
    const late = await tally.late();
    proved('temporal-faults', tally.counts(late.length));
    proved('temporal-faults/journals', tally.afterChanges());
    expect(late).toEqual([]);
  });
  afterAll(() => Promise.all([...benches.values()].map(({ flaky }) => flaky.stop())));

  const prepare = async (stack: MediaStack): Promise<Bench> => {
    await stack.startWorker({ media: { workflows: { workflowsPath } } });
    return makeBench(stack);
  };
  const withBench = async (stack: MediaStack): Promise<void> => {
    try {
      benches.set(stack, await prepare(stack));
    } catch (error) {
      // What is never handed over would keep the run alive.
      await stack.stop();
      throw error;
    }
  };
  const benchOf = (stack: MediaStack): Bench => {
    const made = benches.get(stack);
    if (made === undefined) throw new Error('The stack is not ready.');
    return made;
  };
  const stack = sharedStack({ sandbox }, withBench);
  let server: KillableServer | undefined;
  const killable = sharedStack(async () => {
    server = await startKillableServer();
    return { sandbox, temporal: server };
  }, withBench);
  afterAll(() => server?.stop());

  const cellOf = (on: Bench, { operation, name, directives = '' }: Omit<Schedule, 'run'>): Cell => {
    cells += 1;
    return new Cell(on, operation, `${directives} no. ${String(cells).padStart(3, '0')}, ${name}`.trim());
  };

  async function expectAsForetold(
    cell: Cell,
    schedule: Schedule,
    outcomes: readonly Outcome[],
    change?: JournalChange,
  ): Promise<void> {
    const judgement = await judge(cell, schedule, outcomes, results);
    const expected = expectedOf(cell, schedule);
    const golden = schedule.commands === 'golden';
    tally.add(cell, judgement, golden && isDeepStrictEqual(judgement.commands, expected.commands), change);
    expect(judgement).toEqual(expected);
  }

  it.concurrent(
    `[C4.4a] [C4.4b] the server killed and started again on its file: ${interrupted.map(placeOf).join('; ')}`,
    async () => {
      const on = benchOf(await killable());
      const waves =
        PROOF_SIZE === 'deep'
          ? [interrupted, interrupted, ...interrupted.map((one) => [one])]
          : [interrupted];
      for (const wave of waves) {
        const schedules = wave.map((one): [Cell, Schedule] => [
          cellOf(on, one),
          { ...one, run: async () => [] },
        ]);
        // Those that need a task that exists come first; the creates are then on their way when the server dies.
        const handles = new Map<Cell, WorkflowHandle | Started<Outcome>>();
        for (const early of [true, false]) {
          await Promise.all(
            schedules.map(async ([cell], at) => {
              const one = wave[at];
              if (one !== undefined && (one.early === true) === early)
                handles.set(cell, await one.reach(cell));
            }),
          );
        }
        await server?.killAndRestart();
        tally.killed();
        await Promise.all(
          schedules.map(async ([cell, schedule]) => {
            const handle = handles.get(cell);
            if (handle === undefined) throw new Error('It was never started.');
            const outcome = await ('as' in handle ? handle.result() : cell.outcome(handle));
            await expectAsForetold(cell, schedule, [outcome].flat());
          }),
        );
      }
    },
    LIMIT_MS,
  );

  it.concurrent.each(JOURNAL_CHANGES)(
    `[C4.4a] [C4.4c] the journal %s under calls that are on their way: ${UNDER_WAY.map(placeOf).join('; ')}`,
    async (change) => {
      const queue = await openQueue(benchOf(await stack()), change);
      const reached = await Promise.all(
        UNDER_WAY.map(async (one) => {
          const cell = cellOf(queue.bench, { ...one, name: `${CHANGED[change]} ${one.name}` });
          const order = await place(cell);
          await one.reach(cell, order);
          return { one, cell, order };
        }),
      );
      await queue.change(() =>
        Promise.all(reached.map(async ({ one, cell, order }) => one.whileDown?.(cell, order))),
      );
      await Promise.all(
        reached.map(async ({ one, cell, order }) => {
          const schedule: Schedule = { ...one, run: () => told(cell, one, order) };
          await expectAsForetold(cell, schedule, await schedule.run(cell), change);
        }),
      );
    },
    LIMIT_MS,
  );

  it.concurrent.each(SCHEDULES.map((schedule) => [titleOf(schedule), schedule] as const))(
    '%s',
    async (_title, schedule) => {
      const cell = cellOf(benchOf(await stack()), schedule);
      await expectAsForetold(cell, schedule, await schedule.run(cell));
    },
    LIMIT_MS,
  );
});
