import { randomUUID } from 'node:crypto';
import { type WorkflowHandle } from '@temporalio/client';
import { QUERY, UPDATE } from '../../../src/domain/names';
import { type VideoState } from '../../../src/domain/video-state';
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

/** The send of unknown fate that a waiting workflow shows, once it is not this one. */
function shownSend(cell: Cell, handle: WorkflowHandle, not?: string): Promise<string> {
  return cell.until('the evidence', async () => {
    const { phase, evidence } = await handle.query<VideoState>(QUERY.videoState);
    const sendId = evidence?.sendId ?? undefined;
    return phase === 'unconfirmed' && sendId !== not ? sendId : undefined;
  });
}

/** A decision authorises one send, also when a reset applies its Update again while the next send is unknown. */
const decided: Schedule = {
  operation: 'create_video',
  name: 'sent again by decision, its reply lost again, then reset at each event with its Updates applied again',
  rules: '[C4.4a] [C4.4c]',
  size: 'change',
  // The decision authorises a send as a second key does.
  keys: 2,
  expected: { sends: 2, accepted: 2, outcomes: ['unconfirmed'] },
  run: async (cell) => {
    await cell.fault({ type: 'lose_reply', accepted: true, how: 'reset' }, 2);
    const { workflowId } = await cell.start({ onUnconfirmed: 'wait' });
    const { client } = cell.server;
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    const first = client.workflow.getHandle(workflowId, runId);
    const sendId = await shownSend(cell, first);
    const decision = { sendId, by: 'ada', reason: 'not in the console' };
    await first.executeUpdate(UPDATE.resubmit, { args: [decision] });
    const second = await shownSend(cell, first, sendId);
    const points = await resettableEvents(first);
    cell.faults = points.length;
    let last: WorkflowHandle = first;
    for (const point of points) {
      const again = (last = await resetTo(cell, first, runId, point));
      await shownSend(cell, again);
      // The server applies an Update again from the newest run only; what it leaves out, the person repeats. While the
      // run creates, there is nothing to decide.
      await again.executeUpdate(UPDATE.resubmit, { args: [decision] }).catch(() => undefined);
      expect(await shownSend(cell, again, sendId)).toBe(second);
    }
    await last.cancel();
    return [await cell.outcome(last)];
  },
};

export const resetSchedules: readonly Schedule[] = [
  ...atEachEvent,
  ...whileItRuns,
  ...parents,
  ...unconfirmed,
  decided,
];
