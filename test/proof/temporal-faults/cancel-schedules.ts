import { type WorkflowHandle } from '@temporalio/client';
import { type Cell } from './cell';
import { type Outcome } from './paid-kinds';
import { ONCE, OPERATIONS, type Schedule, type Seen } from './schedule';
import { type Call } from './workflows/buyers';

/** The moments of a paid workflow at which somebody may give it up. */
interface Phase {
  readonly name: string;
  readonly directives?: string;
  readonly videoOnly?: true;
  /** Brings a workflow there and leaves it. */
  readonly reach: (cell: Cell, start: () => Promise<WorkflowHandle>) => Promise<WorkflowHandle>;
  /** What a cancellation there comes to; none where an image call that was sent is let finish. */
  readonly cancelled: Seen;
  /** What the same id, started again after a termination there, comes to. */
  readonly again: Seen;
}

const CANCELLED: Seen = { sends: 1, accepted: 1, outcomes: ['cancelled'] };

const PHASES: readonly Phase[] = [
  {
    name: 'while the request is on its way',
    reach: async (cell, start) => {
      await cell.slow();
      const handle = await start();
      await cell.sent();
      return handle;
    },
    cancelled: CANCELLED,
    again: ONCE,
  },
  {
    name: 'between two sends',
    directives: '[http:429:8]',
    reach: async (cell, start) => {
      const handle = await start();
      await cell.sent();
      await cell.until('the refusal', async () => refusalSeen(cell, handle));
      return handle;
    },
    cancelled: { sends: 1, accepted: 0, outcomes: ['cancelled'] },
    // The refusal proves that nothing was accepted: the next send is under the same key.
    again: { sends: 2, accepted: 1, outcomes: ['completed'] },
  },
  {
    name: 'while it watches',
    directives: '[run:8s]',
    videoOnly: true,
    reach: async (cell, start) => {
      const handle = await start();
      await cell.asked('poll');
      return handle;
    },
    cancelled: CANCELLED,
    again: ONCE,
  },
  {
    name: 'while it downloads',
    videoOnly: true,
    reach: async (cell, start) => {
      await cell.fault({ type: 'slow_body', bytesPerSecond: 200 }, 1, 'content');
      const handle = await start();
      await cell.asked('content');
      return handle;
    },
    cancelled: CANCELLED,
    again: ONCE,
  },
];

async function refusalSeen(cell: Cell, handle: WorkflowHandle): Promise<boolean> {
  if (cell.operation === 'create_video') {
    return (await cell.bench.stack.media.videoState(handle.workflowId)).phase === 'waiting_to_create';
  }
  const { raw } = await handle.describe();
  return (raw.pendingActivities ?? []).some(({ lastFailure }) => lastFailure != null);
}

const phasesOf = (operation: Schedule['operation']): readonly Phase[] =>
  PHASES.filter(({ videoOnly }) => videoOnly !== true || operation === 'create_video');

/** A cancellation lets what was sent land, and every outcome names the task (failure model: row 13, C1.8). */
const cancelled = OPERATIONS.flatMap((operation) =>
  phasesOf(operation).map(({ name, directives = '', reach, cancelled: expected }): Schedule => ({
    operation,
    name: `cancelled ${name}`,
    rules: '[C4.4b]',
    size: operation === 'create_video' ? 'change' : 'deep',
    directives,
    // The reply of an image call holds the images: it is waited for, and they are there.
    expected:
      operation !== 'create_video' && expected.accepted > 0
        ? { ...expected, outcomes: ['completed'] }
        : expected,
    run: async (cell) => {
      const handle = await reach(cell, () => cell.start());
      await handle.cancel();
      const outcome = await cell.outcome(handle);
      if (outcome.outcome !== 'cancelled') return [outcome];
      // Between two attempts of an image activity the server answers in its place, and knows nothing of its refusal.
      const free = expected.accepted === 0 && operation === 'create_video';
      expect([outcome.video?.taskId, outcome.billing.state]).toEqual([
        (await cell.taskIds())[0],
        free ? 'none' : 'needs_review',
      ]);
      return [outcome];
    },
  })),
);

/** A termination tells nobody anything; the journal knows, and the same id gets what was bought (rows 14 and 17). */
const terminated = OPERATIONS.flatMap((operation) =>
  phasesOf(operation).map(({ name, directives = '', reach, again }): Schedule => ({
    operation,
    name: `terminated ${name}, then started again under the same id`,
    rules: '[C4.4a]',
    size: operation === 'edit_image' ? 'deep' : 'change',
    directives,
    expected: again,
    run: async (cell) => {
      const id = cell.uniqueId('order');
      const { workflow } = cell.server.client;
      const handle = await reach(cell, async () => workflow.getHandle((await cell.buy(id)).workflowId));
      await handle.terminate('pulled the plug');
      return [await cell.resultOf(await cell.buy(id))];
    },
  })),
);

/** Before any worker had it: the workflow is gone, and its order is sent once by the next. */
const unstarted = OPERATIONS.map((operation): Schedule => ({
  operation,
  name: 'terminated while no worker serves its queue, then started again under the same id',
  rules: '[C4.4a]',
  size: operation === 'generate_image' ? 'change' : 'deep',
  expected: ONCE,
  commands: 'golden',
  run: async (cell) => {
    const id = cell.uniqueId('order');
    const handle = await cell.start(
      { creationKey: id, queues: { [cell.kind.queue]: cell.uniqueId('nobody') } },
      { workflowId: id },
    );
    await cell.pending(handle);
    await handle.terminate('pulled the plug');
    return [await cell.outcome(await cell.start({ creationKey: id }, { workflowId: id }))];
  },
}));

const CALLS: readonly (readonly [Schedule['operation'], Call, 'change' | 'deep'])[] = [
  ['create_video', 'video by helper', 'change'],
  ['create_video', 'raw create', 'change'],
  ['generate_image', 'raw image', 'change'],
  ['edit_image', 'raw edit', 'deep'],
];

/** A caller that does not wait for what it cancels, and asks again (failure model: row 13). */
const impatient = CALLS.map(([operation, call, size]): Schedule => ({
  operation,
  name: `its caller (${call}, TRY_CANCEL) cancelled while the request is on its way, asks again under the same key`,
  rules: '[C4.4a]',
  size,
  expected: ONCE,
  run: async (cell) => {
    await cell.slow();
    const plan = cell.plan({ call }, { creationKey: cell.uniqueId('row') });
    const handle = await cell.workflow('impatientBuyer', [plan]);
    await cell.sent();
    await handle.cancel();
    return (await handle.result()) as Outcome[];
  },
}));

/** Cancelled while nobody serves the create queue: the journal is waited for a minute (ADR 5). */
const nobody: Schedule = {
  operation: 'create_video',
  name: 'cancelled while no worker serves its queue',
  size: 'deep',
  expected: { sends: 0, accepted: 0, outcomes: ['cancelled'] },
  run: async (cell) => {
    const handle = await cell.startOn(cell.uniqueId('nobody'));
    await cell.pending(handle);
    await handle.cancel();
    return [await cell.outcome(handle)];
  },
};

export const cancelSchedules: readonly Schedule[] = [
  ...cancelled,
  ...terminated,
  ...unstarted,
  ...impatient,
  nobody,
];
