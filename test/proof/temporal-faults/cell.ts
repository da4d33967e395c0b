import { type WorkflowHandle, type WorkflowStartOptions } from '@temporalio/client';
import { type Duration } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import { type FaultAction, type SandboxRequest } from '../../../packages/sandbox/src';
import { type Started } from '../../../src/client';
import {
  type ImageEditRequest,
  type ImageGenerationRequest,
  type PaidOperation,
  type VideoRequest,
} from '../../../src/domain/request';
import { eventually } from '../../support/eventually';
import { type Bench } from './bench';
import { PAID, requestOf, type Outcome, type PaidKind } from './paid-kinds';
import { type Plan } from './workflows/buyers';

/** Long enough for an operator's command, also on a loaded machine. */
export const SLOW_MS = 4_000;
/** Other schedules load the machine. */
const MAX_WAIT_MS = 120_000;

type Options = Partial<Omit<WorkflowStartOptions, 'args'>>;

/** One schedule while it happens: its own prompt, by which the service's log tells its requests from all others. */
export class Cell {
  readonly kind: PaidKind;
  /** How many faults it has: one, unless it repeats one at several places. */
  faults = 1;
  /** Whether it is one of the key matrix. */
  inMatrix = false;
  /** Runs that ended in an outcome, in order. */
  readonly ended: { readonly handle: WorkflowHandle; readonly outcome: Outcome }[] = [];

  constructor(
    readonly bench: Bench,
    readonly operation: PaidOperation,
    readonly prompt: string,
  ) {
    this.kind = PAID[operation];
  }

  get request(): object {
    return requestOf(this.operation, this.prompt, this.bench.reference);
  }

  get server(): Bench['stack']['server'] {
    return this.bench.stack.server;
  }

  uniqueId(prefix = 'fault'): string {
    return this.server.uniqueId(prefix);
  }

  /** A workflow of any type on the queue of the stack. */
  async workflow(type: string, args: unknown[], options: Options = {}): Promise<WorkflowHandle> {
    const { taskQueue } = this.bench.stack;
    const workflowId = this.uniqueId();
    return this.server.client.workflow.start(type, { taskQueue, workflowId, ...options, args });
  }

  /** The package's workflow for this operation, with a key of its own ids unless `input` names one. */
  start(input: object = {}, options: Options = {}): Promise<WorkflowHandle> {
    return this.workflow(this.kind.workflow, [{ request: this.request, ...input }], options);
  }

  /** The same with its paid activity on another queue. */
  startOn(queue: string, input: object = {}): Promise<WorkflowHandle> {
    return this.start({ ...input, queues: { [this.kind.queue]: queue } });
  }

  /** By the package's client, which makes the id the creation key. */
  buy(id: string): Promise<Started<Outcome>> {
    const { media } = this.bench.stack;
    switch (this.operation) {
      case 'create_video':
        return media.startVideo({ request: this.request as VideoRequest }, { id });
      case 'generate_image':
        return media.images.start(
          { request: this.request as ImageGenerationRequest },
          { id, as: 'workflow' },
        );
      case 'edit_image':
        return media.images.start({ request: this.request as ImageEditRequest }, { id, as: 'workflow' });
    }
  }

  plan(plan: Omit<Plan, 'input'>, input: object = {}): Plan {
    return { ...plan, input: { ...input, request: this.request } as Plan['input'] };
  }

  /** The service misbehaves once at this operation, or `times` times (0: always). */
  async fault(
    action: FaultAction,
    times = 1,
    operation: 'poll' | 'content' | PaidKind['wire'] = this.kind.wire,
  ) {
    const { admin } = this.bench.stack.sandbox;
    await admin.addFaults([{ operation, promptIncludes: this.prompt, times, action }]);
  }

  /** The reply to the paid call comes late. */
  slow(ms = SLOW_MS): Promise<void> {
    return this.fault({ type: 'delay', ms });
  }

  async sends(freshness?: 'fresh'): Promise<number> {
    return (await this.bench.requests(freshness)).filter((request) => promptOf(request) === this.prompt)
      .length;
  }

  sent(count = 1): Promise<unknown> {
    return this.until(`send ${count}`, async () => (await this.sends()) >= count);
  }

  /** Ids of the tasks that the service has for this prompt. */
  async taskIds(): Promise<readonly string[]> {
    const tasks = await this.bench.stack.sandbox.admin.tasks();
    return tasks.filter(({ prompt }) => prompt === this.prompt).map(({ id }) => id);
  }

  task(): Promise<string> {
    return this.until('the task', async () => (await this.taskIds())[0]);
  }

  /** The first poll or download of the task. */
  async asked(operation: 'poll' | 'content'): Promise<string> {
    const taskId = await this.task();
    await this.until(`a ${operation}`, async () =>
      (await this.bench.requests()).some((one) => one.operation === operation && one.taskId === taskId),
    );
    return taskId;
  }

  pending(handle: WorkflowHandle, activity = this.kind.activity): Promise<unknown> {
    return this.until(`a pending ${activity}`, async () =>
      (await pendingOf(handle)).some(({ activityType }) => activityType?.name === activity),
    );
  }

  async outcome(handle: WorkflowHandle): Promise<Outcome> {
    const outcome = (await handle.result()) as Outcome;
    this.ended.push({ handle, outcome });
    return outcome;
  }

  async resultOf(started: Started<Outcome>): Promise<Outcome> {
    const outcome = await started.result();
    this.ended.push({ handle: this.server.client.workflow.getHandle(started.workflowId), outcome });
    return outcome;
  }

  until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
    return eventually(what, look, MAX_WAIT_MS);
  }

  /** What an operator may do to an activity of the workflow. */
  operate(handle: WorkflowHandle, activity = this.kind.activity): Operator {
    const service = this.server.client.workflowService;
    const target = {
      namespace: this.server.namespace,
      execution: { workflowId: handle.workflowId },
      type: activity,
      identity: 'operator',
    };
    return {
      pause: async () => void (await service.pauseActivity({ ...target, reason: 'a look around' })),
      unpause: async () => void (await service.unpauseActivity({ ...target, resetAttempts: true })),
      reset: async () => void (await service.resetActivity({ ...target, resetHeartbeat: true })),
      update: async ({ maximumAttempts, startToClose }) => {
        const retryPolicy = { maximumAttempts: maximumAttempts ?? 0, initialInterval: msToTs('1s') };
        const paths = [
          ...(maximumAttempts === undefined ? [] : ['retry_policy.maximum_attempts']),
          ...(startToClose === undefined ? [] : ['start_to_close_timeout']),
        ];
        await service.updateActivityOptions({
          ...target,
          activityOptions: {
            retryPolicy,
            ...(startToClose !== undefined && { startToCloseTimeout: msToTs(startToClose) }),
          },
          updateMask: { paths },
        });
      },
    };
  }
}

export interface Operator {
  pause(): Promise<void>;
  unpause(): Promise<void>;
  reset(): Promise<void>;
  update(options: { readonly maximumAttempts?: number; readonly startToClose?: Duration }): Promise<void>;
}

export async function pendingOf(handle: WorkflowHandle) {
  return (await handle.describe()).raw.pendingActivities ?? [];
}

/** The prompt of a paid request, whether it came as JSON or in parts. */
export function promptOf({ json, parts }: SandboxRequest): string | undefined {
  return (
    (json as { prompt?: string } | undefined)?.prompt ?? parts?.find(({ name }) => name === 'prompt')?.value
  );
}
