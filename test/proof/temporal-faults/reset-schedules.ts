import { randomUUID } from 'node:crypto';
import { type WorkflowHandle } from '@temporalio/client';
import { resetWorkflow } from '../../support/reset-workflow';
import { type Cell } from './cell';
import { type Outcome } from './paid-kinds';
import { ONCE, OPERATIONS, type Schedule } from './schedule';
import { type Call } from './workflows/buyers';

/** Ids of the events to which a run can be reset: its workflow tasks. */
export async function resettableEvents(handle: WorkflowHandle): Promise<readonly string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? [])
    .filter((event) => event.workflowTaskCompletedEventAttributes != null)
    .map(({ eventId }) => String(eventId));
}

/** Resets one run of a workflow to one of its events, however many runs came after it. */
async function resetTo(
  cell: Cell,
  run: WorkflowHandle,
  runId: string,
  event: string,
): Promise<WorkflowHandle> {
  const { client, namespace } = cell.server;
  const { workflowId } = run;
  const again = await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: event as never,
    reason: 'run it again',
    requestId: randomUUID(),
  });
  return client.workflow.getHandle(workflowId, again.runId);
}

/** Resets a finished run to each event in turn, and waits for what comes of it. */
async function resetToEach(cell: Cell, first: WorkflowHandle): Promise<readonly Outcome[]> {
  const outcomes = [await cell.outcome(first)];
  const { runId } = await first.describe();
  const run = cell.server.client.workflow.getHandle(first.workflowId, runId);
  const points = await resettableEvents(run);
  expect(points.length).toBeGreaterThan(1);
  for (const point of points) outcomes.push(await cell.outcome(await resetTo(cell, run, runId, point)));
  cell.faults = points.length;
  return outcomes;
}

const atEachEvent = OPERATIONS.map((operation): Schedule => ({
  operation,
  name: 'reset at each event of its finished history',
  rules: '[C4.4a] [C3.3]',
  size: operation === 'edit_image' ? 'deep' : 'change',
  expected: { ...ONCE, outcomes: 'completed' },
  commands: 'golden',
  run: async (cell) => resetToEach(cell, await cell.start()),
}));

const whileItRuns = OPERATIONS.map((operation): Schedule => ({
  operation,
  name: 'reset while the request is on its way: the run after it waits for the sender',
  rules: '[C4.4a]',
  size: operation === 'edit_image' ? 'deep' : 'change',
  expected: ONCE,
  ...(operation === 'create_video' ? {} : { commands: 'golden' as const }),
  run: async (cell) => {
    await cell.slow();
    const { workflowId } = await cell.start();
    await cell.sent();
    return [await cell.outcome(await resetWorkflow(cell.server, workflowId))];
  },
}));

const PARENTS: readonly (readonly [Schedule['operation'], Call])[] = [
  ['create_video', 'video by helper'],
  ['generate_image', 'image by helper'],
  ['edit_image', 'edit by helper'],
];

/** What the caller of a helper buys does not change when the caller runs again. */
const parents = PARENTS.flatMap(([operation, call]): Schedule[] => [
  {
    operation,
    name: `its caller (${call}) reset while the request is on its way, and again after its end`,
    rules: '[C4.4a]',
    size: operation === 'create_video' ? 'change' : 'deep',
    directives: operation === 'create_video' ? '[run:600s]' : '',
    expected: { ...ONCE, outcomes: operation === 'create_video' ? 'still_running' : 'completed' },
    run: async (cell) => {
      await cell.slow();
      const { workflowId } = await cell.workflow('buyer', [cell.plan({ call }, { waitFor: '1s' })]);
      await cell.sent();
      const bought = async (): Promise<Outcome[]> =>
        (await (await resetWorkflow(cell.server, workflowId)).result()) as Outcome[];
      return [...(await bought()), ...(await bought())];
    },
  },
  {
    operation,
    name: `its caller (${call}) reset at each event of its finished history`,
    rules: '[C4.4a]',
    size: 'deep',
    directives: operation === 'create_video' ? '[run:600s]' : '',
    expected: { ...ONCE, outcomes: operation === 'create_video' ? 'still_running' : 'completed' },
    run: async (cell) => {
      const plan = cell.plan({ call }, { waitFor: '1s' });
      const lists = await resetToEach(cell, await cell.workflow('buyer', [plan]));
      return (lists as unknown as readonly Outcome[][]).flat();
    },
  },
]);

/** Nobody knows what became of it: that stays so, however often it runs again. */
const unconfirmed = OPERATIONS.map((operation): Schedule => ({
  operation,
  name: 'its reply lost, then reset at each event: unconfirmed every time and never sent again',
  rules: '[C4.4c]',
  size: operation === 'create_video' ? 'change' : 'deep',
  directives: '[lost-reply]',
  expected: { sends: 1, accepted: 1, outcomes: 'unconfirmed' },
  run: async (cell) => resetToEach(cell, await cell.start()),
}));

export const resetSchedules: readonly Schedule[] = [
  ...atEachEvent,
  ...whileItRuns,
  ...parents,
  ...unconfirmed,
];
