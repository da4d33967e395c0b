import { type Started } from '../../../src/client';
import { type ImageEditRequest, type ImageGenerationRequest } from '../../../src/domain/request';
import { type Cell } from './cell';
import { type Outcome } from './paid-kinds';
import { ONCE, type Schedule, type Seen } from './schedule';

const IMAGES = ['generate_image', 'edit_image'] as const;
const TWICE: Seen = { ...ONCE, outcomes: ['completed', 'completed'] };

/** Starts the call as the server runs it by default: since 1.32, as an activity without a workflow. */
export function startStandalone(cell: Cell, id: string, more: object = {}): Promise<Started<Outcome>> {
  const request = cell.request as ImageGenerationRequest | ImageEditRequest;
  const { media } = cell.bench.stack;
  return media.images.start({ request, ...more }, { id });
}

/** What an operator may do to it, whatever runs it. */
function operate(cell: Cell, { as, workflowId }: Started<Outcome>) {
  const { client, namespace } = cell.server;
  const activity = client.activity.getHandle(workflowId);
  const workflow = client.workflow.getHandle(workflowId);
  const isActivity = as === 'activity';
  return {
    cancel: () => (isActivity ? activity.cancel('a mistake') : workflow.cancel()),
    terminate: () => (isActivity ? activity.terminate('a mistake') : workflow.terminate()),
    pause: () => (isActivity ? activity.pause() : cell.operate(workflow).pause()),
    unpause: () => (isActivity ? activity.unpause() : cell.operate(workflow).unpause()),
    delete: async () => {
      const { workflowService } = client;
      await (isActivity
        ? workflowService.deleteActivityExecution({ namespace, activityId: workflowId })
        : workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } }));
      await cell.until('the deletion', async () => {
        const found = await cell.bench.stack.media.images.getHandle(workflowId);
        return found === undefined;
      });
    },
  };
}

const again = async (cell: Cell, id: string): Promise<Outcome> => (await startStandalone(cell, id)).result();

/** Loses the result of the first attempt, after `before`. */
function losing(
  cell: Cell,
  before: () => Promise<void> = async () => undefined,
): { readonly queues: object } {
  const { flaky } = cell.bench;
  flaky.script(cell.prompt, async (real, attempt) => {
    const result = await real();
    if (attempt > 1) return result;
    await before();
    throw new Error('the result is lost');
  });
  return { queues: { image: flaky.taskQueue } };
}

type Case = Omit<Schedule, 'operation' | 'size'>;

const CASES: readonly Case[] = [
  {
    name: 'started twice at once under one id',
    rules: '[C4.4a]',
    expected: TWICE,
    run: async (cell) => {
      const id = cell.uniqueId();
      return Promise.all([again(cell, id), again(cell, id)]);
    },
  },
  {
    name: 'started as a workflow and without one under one id',
    rules: '[C4.4a]',
    expected: TWICE,
    run: async (cell) => {
      const id = cell.uniqueId();
      return Promise.all([again(cell, id), cell.buy(id).then((started) => started.result())]);
    },
  },
  {
    name: 'canceled while the request is on its way',
    rules: '[C4.4b]',
    expected: ONCE,
    run: async (cell) => {
      await cell.slow();
      const started = await startStandalone(cell, cell.uniqueId());
      await cell.sent();
      await operate(cell, started).cancel();
      return [await started.result()];
    },
  },
  {
    name: 'terminated while the request is on its way, then started again',
    rules: '[C4.4a]',
    expected: ONCE,
    run: async (cell) => {
      await cell.slow();
      const started = await startStandalone(cell, cell.uniqueId());
      await cell.sent();
      await operate(cell, started).terminate();
      return [await again(cell, started.workflowId)];
    },
  },
  {
    name: 'terminated between two sends, then started again',
    rules: '[C4.4a]',
    directives: '[http:429:8]',
    expected: { sends: 2, accepted: 1, outcomes: ['completed'] },
    run: async (cell) => {
      const started = await startStandalone(cell, cell.uniqueId());
      await cell.sent();
      await operate(cell, started).terminate();
      return [await again(cell, started.workflowId)];
    },
  },
  {
    name: 'whose result is lost',
    rules: '[C4.4a]',
    expected: ONCE,
    run: async (cell) => [await (await startStandalone(cell, cell.uniqueId(), losing(cell))).result()],
  },
  {
    name: 'whose result is lost while it is paused, then unpaused',
    rules: '[C4.4a]',
    expected: ONCE,
    run: async (cell) => {
      const id = cell.uniqueId();
      let operator: ReturnType<typeof operate> | undefined;
      const pausing = losing(cell, async () => {
        operator = await cell.until('the call', async () => {
          const found = await cell.bench.stack.media.images.getHandle(id);
          return found && operate(cell, found);
        });
        await operator.pause();
      });
      const started = await startStandalone(cell, id, pausing);
      await cell.until('the pause', () => Promise.resolve(operator !== undefined));
      await operator?.unpause();
      return [await started.result()];
    },
  },
  {
    name: 'whose execution was deleted, then started again',
    rules: '[C4.4a]',
    expected: TWICE,
    run: async (cell) => {
      const started = await startStandalone(cell, cell.uniqueId());
      const first = await started.result();
      await operate(cell, started).delete();
      return [first, await again(cell, started.workflowId)];
    },
  },
  {
    name: 'whose reply is lost, then started again',
    rules: '[C4.4c]',
    directives: '[lost-reply]',
    expected: { sends: 1, accepted: 1, outcomes: ['unconfirmed', 'unconfirmed'] },
    run: async (cell) => {
      const id = cell.uniqueId();
      return [await again(cell, id), await again(cell, id)];
    },
  },
];

/** An activity without a workflow as the source of events (ADR 37). */
export const standaloneSchedules: readonly Schedule[] = IMAGES.flatMap((operation) =>
  CASES.map((one) => ({
    ...one,
    name: `without a workflow, ${one.name}`,
    operation,
    size: operation === 'generate_image' ? ('change' as const) : ('deep' as const),
  })),
);
