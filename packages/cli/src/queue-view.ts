import { type ConnectionLike } from '@temporalio/client';

/** `TaskQueueType` of the Temporal API. */
const TYPES = { workflows: 1, activities: 2 } as const;
export type PollerKind = keyof typeof TYPES;

/** A worker polls again after at most a minute; the server lists a poller for five minutes after its last poll. */
export const STALE_POLL_MS = 90_000;

/** A version of a worker deployment. */
export interface WorkerVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

/** The pollers of a task queue, and the versions that get its new work. */
export interface QueueView {
  readonly pollers: readonly {
    /** Milliseconds since the Unix epoch. */
    readonly at: number;
    /** Null for an unversioned worker. */
    readonly version: WorkerVersion | null;
  }[];
  /** Versions that get new work; empty when unversioned workers get it. */
  readonly current: readonly WorkerVersion[];
}

/** `WORKER_VERSIONING_MODE_VERSIONED` of the Temporal API. */
const VERSIONED = 2;

/** @throws when the server does not answer in `limitMs` */
export async function viewQueue(
  connection: ConnectionLike,
  namespace: string,
  taskQueue: string,
  kind: PollerKind,
  limitMs: number,
): Promise<QueueView> {
  const { pollers, versioningInfo } = await connection.withDeadline(Date.now() + limitMs, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: TYPES[kind],
    }),
  );
  const { currentDeploymentVersion, rampingDeploymentVersion } = versioningInfo ?? {};
  return {
    pollers: (pollers ?? []).map(({ lastAccessTime, deploymentOptions }) => ({
      at: Number(lastAccessTime?.seconds ?? 0) * 1_000,
      version:
        deploymentOptions != null && Number(deploymentOptions.workerVersioningMode) === VERSIONED
          ? versionOf(deploymentOptions)
          : null,
    })),
    current: [currentDeploymentVersion, rampingDeploymentVersion].flatMap((version) =>
      version?.buildId ? [versionOf(version)] : [],
    ),
  };
}

function versionOf({
  deploymentName,
  buildId,
}: {
  readonly deploymentName?: string | null;
  readonly buildId?: string | null;
}): WorkerVersion {
  return { deploymentName: deploymentName ?? '', buildId: buildId ?? '' };
}

export function isSameVersion(a: WorkerVersion | null, b: WorkerVersion | null): boolean {
  return a?.deploymentName === b?.deploymentName && a?.buildId === b?.buildId;
}

export function versionText({ deploymentName, buildId }: WorkerVersion): string {
  return `${deploymentName} ${buildId}`;
}

/** When each worker that gets new work last polled, in milliseconds since the Unix epoch. */
export function pollsForNewWork({ pollers, current }: QueueView): readonly number[] {
  const takesNew = (version: WorkerVersion | null): boolean =>
    current.length === 0 ? version === null : current.some((one) => isSameVersion(one, version));
  return pollers.filter(({ version }) => takesNew(version)).map(({ at }) => at);
}
