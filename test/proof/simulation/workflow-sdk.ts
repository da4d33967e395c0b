/**
 * A placeholder for `@temporalio/workflow` in the simulation: scopes, timers and activities of the run whose promises run
 * now. Only what create-once uses, with the semantics of the SDK: a scope that cannot be cancelled shields what is below
 * it, a cancelled sleep throws, an activity is told and waited for.
 * @module
 */
import { CancelledFailure } from '@temporalio/common';
import { currentTime } from './virtual-globals';
import { type Actor, type Timer } from './virtual-time';

export { ActivityFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';

export const ActivityCancellationType = {
  TRY_CANCEL: 'TRY_CANCEL',
  WAIT_CANCELLATION_COMPLETED: 'WAIT_CANCELLATION_COMPLETED',
} as const;

/** Modules that create-once imports define queries when they are loaded; no run of the simulation is queried. */
export const defineQuery = (name: string): { readonly name: string } => ({ name });

/** What `proxyActivities` was given: the real options of src/workflows/proxies.ts. */
export interface ActivityOptions {
  readonly scheduleToStartTimeout?: number;
  readonly startToCloseTimeout: number | string;
  readonly scheduleToCloseTimeout: number | string;
  readonly heartbeatTimeout?: number;
  readonly summary?: string;
  readonly retry: {
    readonly initialInterval?: string;
    readonly backoffCoefficient?: number;
    readonly maximumInterval?: string;
    readonly maximumAttempts?: number;
    readonly nonRetryableErrorTypes?: readonly string[];
  };
}

/** One run of a workflow. It outlives workers: its history is replayed. */
export interface Run extends Actor {
  readonly workflowId: string;
  readonly runId: string;
  readonly originalExecutionRunId: string;
  /** No workflow: the run of an activity that somebody has started by itself. */
  readonly isStandalone?: true;
  scope: CancellationScope;
  /** Ended, or ended from outside. */
  closed: boolean;
  schedule(
    activity: string,
    options: ActivityOptions,
    input: unknown,
    scope: CancellationScope,
  ): Promise<unknown>;
}

function run(): Run {
  const { current } = currentTime();
  if (!('schedule' in current)) throw new Error('No workflow runs.');
  return current as Run;
}

export class CancellationScope {
  private requested = false;
  readonly cancellable: boolean;
  /** Fails once the scope is cancelled. */
  readonly cancelRequested: Promise<never>;
  private readonly whenCancelled = new Set<() => void>();

  constructor(options: { readonly cancellable?: boolean; readonly parent?: CancellationScope } = {}) {
    this.cancellable = options.cancellable ?? true;
    this.cancelRequested = new Promise((_, reject) => {
      this.whenCancelled.add(() => reject(new CancelledFailure('cancelled')));
    });
    this.cancelRequested.catch(() => undefined);
    const parent = options.parent;
    if (parent === undefined || !parent.cancellable) return;
    this.requested = parent.requested;
    parent.whenCancelled.add(() => this.cancel());
  }

  static current(): CancellationScope {
    return run().scope;
  }

  /** Create-once does one thing at a time, so that what follows an await in `work` is still in this scope. */
  static async nonCancellable<T>(work: () => Promise<T>): Promise<T> {
    const whose = run();
    const outer = whose.scope;
    whose.scope = new CancellationScope({ cancellable: false, parent: outer });
    try {
      return await work();
    } finally {
      whose.scope = outer;
    }
  }

  get consideredCancelled(): boolean {
    return this.requested && this.cancellable;
  }

  run<T>(work: () => T): T {
    const whose = run();
    const outer = whose.scope;
    whose.scope = this;
    try {
      return work();
    } finally {
      whose.scope = outer;
    }
  }

  cancel(): void {
    if (this.requested) return;
    this.requested = true;
    for (const tell of this.whenCancelled) tell();
  }

  /** What is to happen on a cancellation; the result takes it back. */
  onCancel(tell: () => void): () => void {
    const told = (): void => {
      if (this.cancellable) tell();
    };
    this.whenCancelled.add(told);
    return () => this.whenCancelled.delete(told);
  }
}

export function isCancellation(error: unknown): boolean {
  return error instanceof CancelledFailure;
}

/** Unique: what a reset replays keeps its own, and nothing of it is scheduled again here. */
export const uuid4 = (): string => `uuid-${currentTime().random.next()}`;

export const patched = (): boolean => true;

export const workflowInfo = (): Pick<Run, 'workflowId' | 'runId' | 'originalExecutionRunId'> => run();

export function sleep(ms: number): Promise<void> {
  const whose = run();
  const { scope } = whose;
  return new Promise((resolve, reject) => {
    if (scope.consideredCancelled) return reject(new CancelledFailure('cancelled'));
    let timer: Timer | undefined = undefined;
    const forget = scope.onCancel(() => {
      if (timer !== undefined) timer.cancelled = true;
      reject(new CancelledFailure('cancelled'));
    });
    timer = currentTime().after(ms, whose, () => {
      forget();
      resolve();
    });
  });
}

export function proxyActivities(
  options: ActivityOptions,
): Record<string, (input: unknown) => Promise<unknown>> {
  return new Proxy(
    {},
    {
      get: (_, name) => (input: unknown) => {
        const whose = run();
        if (whose.scope.consideredCancelled) return Promise.reject(new CancelledFailure('cancelled'));
        return whose.schedule(String(name), options, input, whose.scope);
      },
    },
  );
}
