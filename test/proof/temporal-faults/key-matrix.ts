import {
  defaultPayloadConverter,
  WorkflowContinuedAsNewError,
  type WorkflowHandle,
} from '@temporalio/client';
import { resetWorkflow } from '../../support/reset-workflow';
import { type Cell } from './cell';
import { type Outcome } from './paid-kinds';
import { type Schedule } from './schedule';
import { type Call } from './workflows/buyers';
import { FAILS_ONCE } from './workflows/fails-once';

/**
 * How often each way to call buys when its workflow runs again in each way (failure model: rows 16 to 17). `self` is the
 * workflow that pays, `above` the one that started it. Every run that is meant to buy anew is an authorisation.
 */
interface Column {
  readonly name: string;
  readonly operation: Schedule['operation'];
  /** How a caller pays, when it is no workflow of the package that is started directly. */
  readonly call?: Call;
  /** How somebody above starts it. */
  readonly above: Call;
}

const COLUMNS: readonly Column[] = [
  { name: 'top-level', operation: 'create_video', above: 'video as a plain child' },
  { name: 'child', operation: 'create_video', call: 'video by helper', above: 'video by helper' },
  {
    name: 'image by helper',
    operation: 'generate_image',
    call: 'image by helper',
    above: 'a child that buys',
  },
  { name: 'raw image activity', operation: 'generate_image', call: 'raw image', above: 'a child that buys' },
];

interface Row {
  readonly name: string;
  /** Sends by column: with keys of the workflows' own ids. */
  readonly sends: readonly [number, number, number, number];
  readonly runs: number;
  readonly run: (cell: Cell, column: Column, key: object) => Promise<readonly Outcome[]>;
}

const AGAIN = { retry: { maximumAttempts: 2, initialInterval: '1s' } } as const;

const ROWS: readonly Row[] = [
  {
    name: 'reset',
    // A raw activity without a key is not reset-safe, as docs/created-once.md says.
    sends: [1, 1, 1, 2],
    runs: 2,
    run: async (cell, column, key) => {
      const above = await startSelf(cell, column, key);
      const first = await listed(above);
      // The workflow that pays is the child of the one that called the helper.
      const paying = column.name === 'child' ? await childOf(cell, above) : above;
      return [...first, ...(await listed(await resetWorkflow(cell.server, paying.workflowId)))];
    },
  },
  {
    name: 'parent reset',
    sends: [2, 1, 2, 2],
    runs: 2,
    run: async (cell, column, key) => {
      const above = await startAbove(cell, column, key);
      return [
        ...(await listed(above)),
        ...(await listed(await resetWorkflow(cell.server, above.workflowId))),
      ];
    },
  },
  {
    name: 'workflow retry',
    sends: [1, 1, 1, 2],
    runs: 1,
    run: async (cell, column, key) => listed(await startSelf(cell, column, key, { failsOnce: true }, AGAIN)),
  },
  {
    name: 'parent retry',
    sends: [2, 1, 2, 2],
    runs: 1,
    run: async (cell, column, key) => listed(await startAbove(cell, column, key, { failsOnce: true }, AGAIN)),
  },
  {
    name: 'cron',
    sends: [2, 2, 2, 2],
    runs: 2,
    run: async (cell, column, key) => {
      const handle = await startSelf(cell, column, key, {}, { cronSchedule: '@every 6s' });
      return twoRunsOf(cell, handle);
    },
  },
  {
    name: 'continue-as-new loop',
    sends: [2, 2, 2, 2],
    runs: 2,
    run: async (cell, column, key) => {
      const call = column.call ?? 'video as a plain child';
      return listed(await cell.workflow('buyer', [cell.plan({ call, rounds: 2 }, inputOf(cell, key))]));
    },
  },
  {
    name: 'Schedule',
    sends: [2, 2, 2, 2],
    runs: 2,
    run: async (cell, column, key) => bySchedule(cell, column, key),
  },
  {
    name: 'same id after closing',
    sends: [2, 2, 2, 2],
    runs: 2,
    run: async (cell, column, key) => {
      const first = await startSelf(cell, column, key);
      const bought = await listed(first);
      const second = await startSelf(cell, column, key, {}, { workflowId: first.workflowId });
      return [...bought, ...(await listed(second))];
    },
  },
];

/** Whose task it is shows without waiting for the video. */
const inputOf = (cell: Cell, key: object): object =>
  cell.operation === 'create_video' ? { ...key, waitFor: '1s' } : key;

/** Type and arguments of the workflow that pays, or of the one that calls the helper. */
function self(
  cell: Cell,
  { call, name }: Column,
  key: object,
  how: { readonly failsOnce?: boolean } = {},
): readonly [string, readonly unknown[]] {
  const input = inputOf(cell, key);
  if (call === undefined) return [cell.kind.workflow, [{ ...input, request: cell.request }]];
  // The child fails and is retried itself; its caller is not.
  const retried = name === 'child' ? { childRetries: how.failsOnce === true } : how;
  return ['buyer', [cell.plan({ call, ...retried }, input)]];
}

function startSelf(
  cell: Cell,
  column: Column,
  key: object,
  how: { readonly failsOnce?: boolean } = {},
  options: object = {},
): Promise<WorkflowHandle> {
  const [type, args] = self(cell, column, key, how);
  return cell.workflow(type, [...args], options);
}

function startAbove(
  cell: Cell,
  { call, above }: Column,
  key: object,
  how: { readonly failsOnce?: boolean } = {},
  options: object = {},
): Promise<WorkflowHandle> {
  const input = inputOf(cell, key);
  const inner =
    above === 'a child that buys' && call !== undefined ? { inner: cell.plan({ call }, input) } : {};
  return cell.workflow('buyer', [cell.plan({ call: above, ...inner, ...how }, input)], options);
}

/** The outcomes that a run returned: one, or a list of a workflow that buys. */
async function listed(handle: WorkflowHandle): Promise<readonly Outcome[]> {
  return inList((await handle.result()) as Outcome | readonly Outcome[]);
}

async function childOf(cell: Cell, above: WorkflowHandle): Promise<WorkflowHandle> {
  const { events } = await above.fetchHistory();
  const started = events?.map((event) => event.childWorkflowExecutionStartedEventAttributes);
  const id = started?.find((one) => one != null)?.workflowExecution?.workflowId;
  if (id == null) throw new Error('No child was started.');
  return cell.server.client.workflow.getHandle(id);
}

/** The first two runs of a chain that would go on for ever. */
async function twoRunsOf(cell: Cell, handle: WorkflowHandle): Promise<readonly Outcome[]> {
  try {
    const { runId } = await handle.describe();
    const [bought, next] = await closedRun(cell, handle.workflowId, runId);
    const [more] = await closedRun(cell, handle.workflowId, next);
    return [...bought, ...more];
  } finally {
    await handle.terminate('seen enough');
  }
}

/** What one run of a chain returned, and the run after it. */
async function closedRun(
  cell: Cell,
  workflowId: string,
  runId: string,
): Promise<readonly [readonly Outcome[], string]> {
  const run = cell.server.client.workflow.getHandle(workflowId, runId, { followRuns: false });
  const end: unknown = await run.result().catch((error: unknown) => error);
  // The client tells a run that another one follows by an error, whatever the run returned.
  if (!(end instanceof WorkflowContinuedAsNewError)) throw new Error('The chain ended.', { cause: end });
  const last = (await run.fetchHistory()).events?.at(-1)?.workflowExecutionCompletedEventAttributes;
  const result = last?.result?.payloads?.[0];
  if (result == null) throw new Error('The run returned nothing.');
  const outcome = defaultPayloadConverter.fromPayload<Outcome | readonly Outcome[]>(result);
  return [inList(outcome), end.newExecutionRunId];
}

const inList = (result: Outcome | readonly Outcome[]): readonly Outcome[] =>
  'outcome' in result ? [result] : result;

/** Two actions of one Schedule, for two hours of the past. */
async function bySchedule(cell: Cell, column: Column, key: object): Promise<readonly Outcome[]> {
  const { client } = cell.server;
  const [workflowType, args] = self(cell, column, key);
  const { taskQueue } = cell.bench.stack;
  const schedule = await client.schedule.create({
    scheduleId: cell.uniqueId('schedule'),
    spec: { intervals: [{ every: '1h' }] },
    state: { paused: true },
    action: { type: 'startWorkflow', workflowType, args: [...args], taskQueue, workflowId: cell.uniqueId() },
  });
  try {
    const hour = 3_600_000;
    const end = new Date(Math.floor(Date.now() / hour) * hour + 1);
    await schedule.backfill({ start: new Date(end.getTime() - hour - 2), end, overlap: 'ALLOW_ALL' });
    const actions = await cell.until('two actions', async () => {
      const { recentActions } = (await schedule.describe()).info;
      return recentActions.length >= 2 ? recentActions : undefined;
    });
    const runs = actions.map(({ action }) =>
      client.workflow.getHandle(action.workflow.workflowId, action.workflow.firstExecutionRunId),
    );
    return (await Promise.all(runs.map(listed))).flat();
  } finally {
    await schedule.delete();
  }
}

function cellOf(row: Row, column: Column, at: number, keyed: boolean): Schedule {
  const sends = keyed ? 1 : (row.sends[at] ?? 0);
  const video = column.operation === 'create_video';
  const retried = video && row.name === 'workflow retry' ? `, ${FAILS_ONCE}` : '';
  const key = keyed ? 'a key of the caller' : 'keys of their own ids';
  return {
    operation: column.operation,
    name: `key matrix: ${row.name} x ${column.name}, with ${key}${retried}`,
    rules: '[C4.4a]',
    size: keyed ? 'deep' : 'change',
    directives: video ? '[run:600s]' : '',
    keys: sends,
    expected: { sends, accepted: sends, outcomes: video ? 'still_running' : 'completed' },
    run: async (cell) => {
      cell.inMatrix = true;
      const given = keyed ? { creationKey: cell.uniqueId('row') } : {};
      const bought = await row.run(cell, column, given);
      // Whoever came second got what the first one bought, unless it bought anew.
      expect(bought).toHaveLength(row.runs);
      if (video) expect(new Set(bought.map(taskOf)).size).toBe(Math.min(sends, row.runs));
      else if (sends === 1) expect(bought).toEqual(bought.map(() => bought[0]));
      return bought;
    },
  };
}

const taskOf = (outcome: Outcome): string | undefined =>
  'video' in outcome ? outcome.video?.taskId : undefined;

export const keyMatrix: readonly Schedule[] = [false, true].flatMap((keyed) =>
  ROWS.flatMap((row) => COLUMNS.map((column, at) => cellOf(row, column, at, keyed))),
);
