import { type WorkflowHandle } from '@temporalio/client';
import { type Started } from '../../../src/client';
import { type Cell } from './cell';
import { type Outcome } from './paid-kinds';
import { ONCE, type Schedule, type Seen } from './schedule';
import { startStandalone } from './standalone-schedules';

/** A workflow that is somewhere on its way when its server is killed, and what comes of it after the restart. */
export interface Interrupted {
  readonly operation: Schedule['operation'];
  readonly name: string;
  readonly size: Schedule['size'];
  readonly directives?: string;
  readonly expected: Seen;
  /** Needs a task that exists, and so comes there later than others. */
  readonly early?: true;
  /** Brings a call there; what it waits for is still to come. */
  readonly reach: (cell: Cell) => Promise<WorkflowHandle | Started<Outcome>>;
}

/** So long that a kill and a restart happen within it. */
const LONG_MS = 6_000;

const inTheCall = async (cell: Cell): Promise<WorkflowHandle> => {
  await cell.slow(LONG_MS);
  const handle = await cell.start();
  await cell.sent();
  return handle;
};

export const INTERRUPTED: readonly Interrupted[] = [
  { operation: 'create_video', name: 'in mid-create', size: 'change', expected: ONCE, reach: inTheCall },
  { operation: 'generate_image', name: 'in mid-call', size: 'change', expected: ONCE, reach: inTheCall },
  { operation: 'edit_image', name: 'in mid-call', size: 'deep', expected: ONCE, reach: inTheCall },
  {
    operation: 'generate_image',
    name: 'in mid-call without a workflow',
    size: 'change',
    expected: ONCE,
    reach: async (cell) => {
      await cell.slow(LONG_MS);
      const started = await startStandalone(cell, cell.uniqueId());
      await cell.sent();
      return started;
    },
  },
  {
    operation: 'create_video',
    name: 'in mid-poll',
    early: true,
    size: 'change',
    expected: ONCE,
    reach: async (cell) => {
      await cell.fault({ type: 'delay', ms: LONG_MS }, 1, 'poll');
      const handle = await cell.start();
      await cell.asked('poll');
      return handle;
    },
  },
  {
    operation: 'create_video',
    name: 'in mid-download',
    early: true,
    size: 'change',
    expected: ONCE,
    reach: async (cell) => {
      await cell.fault({ type: 'delay', ms: LONG_MS }, 1, 'content');
      const handle = await cell.start();
      await cell.asked('content');
      return handle;
    },
  },
  {
    operation: 'create_video',
    name: 'between two sends',
    early: true,
    size: 'change',
    directives: '[http:429:8]',
    expected: { sends: 2, accepted: 1, outcomes: ['completed'] },
    reach: async (cell) => {
      const handle = await cell.start();
      await cell.until(
        'the wait',
        async () =>
          (await cell.bench.stack.media.videoState(handle.workflowId)).phase === 'waiting_to_create',
      );
      return handle;
    },
  },
  {
    operation: 'create_video',
    name: 'in a caller that bought by helper',
    size: 'deep',
    directives: '[run:600s]',
    expected: { ...ONCE, outcomes: ['still_running'] },
    reach: async (cell) => {
      await cell.slow(LONG_MS);
      const plan = cell.plan({ call: 'video by helper' }, { waitFor: '1s' });
      const handle = await cell.workflow('buyer', [plan]);
      await cell.sent();
      return handle;
    },
  },
];
