import { type WorkflowHandle } from '@temporalio/client';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { changeJournal, copyJournal, type JournalChange } from '../../support/changed-journal';
import { startCrashingWorker } from '../../support/crashing-process';
import { resetWorkflow } from '../../support/reset-workflow';
import { type Bench } from './bench';
import { type Cell } from './cell';
import { type Outcome } from './paid-kinds';
import { ONCE, type Schedule, type Seen } from './schedule';

/** One id of an order, and whoever asks for it. */
export interface Order {
  readonly handle: WorkflowHandle;
  /** Asks for it once more. */
  readonly again: () => Promise<WorkflowHandle>;
}

/** A paid call that is somewhere on its way when another journal comes under it, and who asks for it then. */
export interface UnderWay extends Omit<Schedule, 'run'> {
  readonly reach: (cell: Cell, order: Order) => Promise<unknown>;
  /** What an operator does to it while no worker runs. */
  readonly whileDown?: (cell: Cell, order: Order) => Promise<unknown>;
  /** Who is told what it came to. @default the run that was there */
  readonly asks?: (cell: Cell, order: Order) => Promise<WorkflowHandle>;
}

const STALLED = '[lost-reply:stall]';
/** It was accepted, and whether it was nobody can tell any more. */
const UNKNOWN: Seen = { sends: 1, accepted: 1, outcomes: ['unconfirmed'] };

export const UNDER_WAY: readonly UnderWay[] = [
  {
    operation: 'create_video',
    name: 'in its call',
    size: 'change',
    directives: STALLED,
    expected: UNKNOWN,
    reach: (cell) => cell.sent(),
  },
  {
    operation: 'generate_image',
    name: 'in its call',
    size: 'change',
    directives: STALLED,
    expected: UNKNOWN,
    reach: (cell) => cell.sent(),
  },
  {
    operation: 'create_video',
    name: 'in its call, then terminated and started again',
    size: 'change',
    directives: STALLED,
    expected: UNKNOWN,
    reach: (cell) => cell.sent(),
    whileDown: (_, { handle }) => handle.terminate('nobody waits for it'),
    asks: (_, { again }) => again(),
  },
  {
    operation: 'create_video',
    name: 'in its call, then reset to its beginning',
    size: 'change',
    directives: STALLED,
    expected: UNKNOWN,
    reach: (cell) => cell.sent(),
    whileDown: (cell, { handle }) => resetWorkflow(cell.server, handle.workflowId),
    asks: async (cell, { handle }) => cell.server.client.workflow.getHandle(handle.workflowId),
  },
  {
    operation: 'create_video',
    name: 'between two sends',
    size: 'change',
    directives: '[http:429:8]',
    expected: { sends: 2, accepted: 1, outcomes: ['completed'] },
    reach: (cell, { handle }) =>
      cell.until(
        'the wait',
        async () =>
          (await cell.bench.stack.media.videoState(handle.workflowId)).phase === 'waiting_to_create',
      ),
  },
  {
    operation: 'create_video',
    name: 'finished, then started again',
    size: 'change',
    expected: ONCE,
    reach: (_, { handle }) => handle.result(),
    asks: (_, { again }) => again(),
  },
];

/** A bench with a queue and a journal of its own, whose worker is a process. */
export interface ChangedQueue {
  readonly bench: Bench;
  /** The worker is killed, and another one starts with `--rebind` on what is the journal by then. */
  change(whileDown: () => Promise<unknown>): Promise<void>;
}

export async function openQueue(bench: Bench, change: JournalChange): Promise<ChangedQueue> {
  const worker = await startCrashingWorker(bench.stack);
  const { media, taskQueue } = worker;
  let root = worker.journal;
  if (change === 'restored') await copyJournal(root);
  return {
    bench: {
      ...bench,
      stack: { ...bench.stack, taskQueue, media },
      get journal() {
        return createFileJournal({ root });
      },
    },
    change: async (whileDown) => {
      await worker.kill();
      await whileDown();
      root = await changeJournal(change, root);
      await worker.startSuccessor({ journal: root, rebind: true });
    },
  };
}

export async function place(cell: Cell): Promise<Order> {
  const creationKey = cell.uniqueId('order');
  const again = (): Promise<WorkflowHandle> => cell.start({ creationKey });
  return { handle: await again(), again };
}

/** What whoever asks for it is told. */
export async function told(cell: Cell, { asks }: UnderWay, order: Order): Promise<readonly Outcome[]> {
  return [await cell.outcome(asks === undefined ? order.handle : await asks(cell, order))];
}
