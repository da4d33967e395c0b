import {
  type Client,
  type ConnectionLike,
  decodeActivityExecutionStatus,
  decodePendingActivityState,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { lenientClient, readPayloads } from 'temporal-media/internal/client/read-payloads';
import { describeWorkflow } from 'temporal-media/internal/client/workflow-handle';
import { describeStandalone, unlessDenied } from 'temporal-media/internal/client/workflow-service';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { ACTIVITY, isImageActivity, isOpen, PAUSED, RETRY_LATER } from 'temporal-media/internal/domain/names';
import { type ExecutionView, type OpenActivity, type OperatorPause, type StandaloneCall } from './case';

/** `TaskQueueType` of the Temporal API. */
const TYPES = { workflows: 1, activities: 2 } as const;
export type PollerKind = keyof typeof TYPES;

/** Workers poll at least once a minute. The server lists a poller for five minutes after its last poll. */
export const STALE_POLL_MS = 90_000;

/** A worker deployment version. */
export interface WorkerVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

/** A worker process on one task queue. */
interface Poller {
  /** When it last polled or sent a heartbeat, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Null for an unversioned worker. */
  readonly version: WorkerVersion | null;
  /** Whether all its slots were in use at its last heartbeat. Such a worker does not poll. */
  readonly isFull?: boolean;
}

/** The pollers of a task queue, and the versions that receive its new work. */
export interface QueueView {
  readonly pollers: readonly Poller[];
  /** Versions that get new work. Empty when unversioned workers get it. */
  readonly current: readonly WorkerVersion[];
}

/** `WORKER_VERSIONING_MODE_VERSIONED` of the Temporal API. */
const VERSIONED = 2;

/** @throws when the server does not respond within `limitMs` */
export async function viewQueue(
  connection: ConnectionLike,
  namespace: string,
  taskQueue: string,
  kind: PollerKind,
  limitMs: number,
): Promise<QueueView> {
  const [{ pollers, versioningInfo }, heartbeats] = await connection.withDeadline(Date.now() + limitMs, () =>
    Promise.all([
      connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: taskQueue },
        taskQueueType: TYPES[kind],
      }),
      // Older servers have no heartbeats. Then only the list of pollers counts.
      latestHeartbeats(connection, namespace, taskQueue).catch(otherwise([])),
    ]),
  );
  const { currentDeploymentVersion, rampingDeploymentVersion } = versioningInfo ?? {};
  const polls = (pollers ?? []).map(({ identity, lastAccessTime, deploymentOptions }) => {
    const isVersioned = Number(deploymentOptions?.workerVersioningMode) === VERSIONED;
    const version = isVersioned ? versionOf(deploymentOptions ?? {}) : null;
    return [identity ?? '', { at: millisecondsOf(lastAccessTime), version }] as const;
  });
  return {
    pollers: withHeartbeats(polls, heartbeats, kind),
    current: [currentDeploymentVersion, rampingDeploymentVersion].flatMap((version) =>
      version?.buildId ? [versionOf(version)] : [],
    ),
  };
}

type Heartbeat = NonNullable<
  NonNullable<
    Awaited<ReturnType<ConnectionLike['workflowService']['describeWorker']>>['workerInfo']
  >['workerHeartbeat']
>;

/** Maximum number of workers to describe. Any one that is alive shows that a queue is served. */
const MOST_DESCRIBED = 10;

/** Returns what a queue's workers last reported about themselves, which they do every minute and when they stop. */
async function latestHeartbeats(
  { workflowService }: ConnectionLike,
  namespace: string,
  taskQueue: string,
): Promise<readonly Heartbeat[]> {
  const query = `TaskQueue = ${JSON.stringify(taskQueue)}`;
  const { workers } = await workflowService.listWorkers({ namespace, query, pageSize: MOST_DESCRIBED });
  const described = await Promise.all(
    workers.map(({ workerInstanceKey = null }) =>
      // It may have gone in the meantime.
      workflowService.describeWorker({ namespace, workerInstanceKey }).catch(otherwise(undefined)),
    ),
  );
  return described.flatMap((one) => one?.workerInfo?.workerHeartbeat ?? []);
}

/** `WORKER_STATUS_RUNNING` of the Temporal API. */
const RUNNING = 1;

/**
 * Corrects the list of pollers, in which a stopped worker remains for five minutes, and a worker without a free slot
 * looks like a dead one. One process may have had several workers on the queue, all with one identity.
 */
function withHeartbeats(
  polls: readonly (readonly [identity: string, poller: Poller])[],
  heartbeats: readonly Heartbeat[],
  kind: PollerKind,
): readonly Poller[] {
  const pollers = new Map(polls);
  const inOrder = heartbeats.toSorted(
    (a, b) => millisecondsOf(a.heartbeatTime) - millisecondsOf(b.heartbeatTime),
  );
  for (const heartbeat of inOrder) {
    const { workerIdentity, heartbeatTime, deploymentVersion, status } = heartbeat;
    const slots = kind === 'workflows' ? heartbeat.workflowTaskSlotsInfo : heartbeat.activityTaskSlotsInfo;
    // Other suppliers report no free slots, because they do not know their number.
    const isFixed = slots?.slotSupplierKind === 'Fixed';
    const used = slots?.currentUsedSlots ?? 0;
    const free = slots?.currentAvailableSlots ?? 0;
    const identity = workerIdentity ?? '';
    const at = millisecondsOf(heartbeatTime);
    const before = pollers.get(identity);
    if (Number(status) !== RUNNING) {
      if (before !== undefined && before.at <= at) pollers.delete(identity);
    } else if (used + free > 0) {
      const version = deploymentVersion?.deploymentName ? versionOf(deploymentVersion) : null;
      pollers.set(identity, {
        version,
        ...before,
        at: Math.max(at, before?.at ?? 0),
        isFull: isFixed && free === 0,
      });
    }
  }
  return [...pollers.values()];
}

function millisecondsOf(time: Heartbeat['heartbeatTime']): number {
  return Number(time?.seconds ?? 0) * 1_000 + Math.floor((time?.nanos ?? 0) / 1_000_000);
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

/** Returns the workers that get new work. */
function pollersForNewWork({ pollers, current }: QueueView): readonly Poller[] {
  const takesNew = (version: WorkerVersion | null): boolean =>
    current.length === 0 ? version === null : current.some((one) => isSameVersion(one, version));
  return pollers.filter(({ version }) => takesNew(version));
}

/** Returns when each worker that gets new work was last heard of, in milliseconds since the Unix epoch. */
export function pollsForNewWork(view: QueueView): readonly number[] {
  return pollersForNewWork(view).map(({ at }) => at);
}

/**
 * Whether new work waits because every worker that gets it has all slots in use.
 * @param now milliseconds since the Unix epoch
 */
export function isFullyUsed(view: QueueView, now: number): boolean {
  const alive = pollersForNewWork(view).filter(({ at }) => now - at <= STALE_POLL_MS);
  return alive.length > 0 && alive.every(({ isFull }) => isFull === true);
}

/** Describes a workflow id's newest run. Undefined if the server has none. */
export async function viewExecution(
  client: Client,
  workflowId: string,
  url: (workflowId: string) => string | undefined,
): Promise<ExecutionView | undefined> {
  const description = await describeWorkflow(lenientClient(client), workflowId);
  if (description === undefined) return undefined;
  const { runId, type, status, taskQueue, startTime, closeTime, historyLength, raw } = description;
  const pause = raw.workflowExtendedInfo?.pauseInfo;
  return {
    workflowId,
    runId,
    type,
    status: status.name,
    taskQueue,
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString() ?? null,
    historyLength,
    pause:
      status.name === PAUSED
        ? pauseOf({ at: pause?.pausedTime, by: pause?.identity, reason: pause?.reason })
        : null,
    pendingActivities: await Promise.all((raw.pendingActivities ?? []).map((one) => pendingOf(client, one))),
    url: url(workflowId) ?? null,
  };
}

/** Describes the newest image call with this id that runs without a workflow. Undefined if the server has none. */
export async function viewStandalone(
  client: Client,
  activityId: string,
): Promise<StandaloneCall | undefined> {
  const { namespace } = client.options;
  const found = await describeStandalone(client, namespace, { activityId, runId: '' }).catch(unlessDenied);
  const info = found?.info;
  const status = decodeActivityExecutionStatus(info?.status);
  if (info == null || status === undefined || !isImageActivity(info.activityType?.name)) return undefined;
  const { runId, taskQueue, scheduleTime, closeTime, nextAttemptScheduleTime } = info;
  return {
    ...(await pendingOf(client, {
      ...info,
      state: info.runState ?? null,
      activityOptions: { taskQueue: { name: taskQueue ?? null } },
    })),
    runId: runId ?? '',
    status,
    taskQueue: taskQueue ?? '',
    startedAt: isoOf(scheduleTime) ?? '',
    closedAt: isoOf(closeTime),
    nextAttemptAt: isOpen(status) ? isoOf(nextAttemptScheduleTime) : null,
  };
}

const OURS: ReadonlySet<string> = new Set(Object.values(ACTIVITY));

type Pending = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];
type Time = Pending['scheduledTime'];

function isoOf(time: Time): string | null {
  return time == null ? null : new Date(millisecondsOf(time)).toISOString();
}

function pauseOf({
  by,
  at,
  reason,
  isRequested = false,
}: {
  readonly by: string | null | undefined;
  readonly at: Time;
  readonly reason: string | null | undefined;
  readonly isRequested?: boolean;
}): OperatorPause {
  return { by: by || null, at: isoOf(at), reason: reason || null, isRequested };
}

function pauseOfActivity({ state, paused, pauseInfo }: Partial<Pending>): OperatorPause | null {
  const now = decodePendingActivityState(state);
  const isRequested = now === 'PAUSE_REQUESTED';
  if (paused !== true && now !== 'PAUSED' && !isRequested) return null;
  const { pauseTime, manual, rule } = pauseInfo ?? {};
  return pauseOf({
    at: pauseTime,
    by: manual?.identity ?? rule?.ruleId,
    reason: manual?.reason ?? rule?.reason,
    isRequested,
  });
}

type PendingFacts = Pick<
  Pending,
  | 'activityType'
  | 'activityId'
  | 'attempt'
  | 'lastFailure'
  | 'state'
  | 'paused'
  | 'pauseInfo'
  | 'activityOptions'
>;

async function pendingOf(client: Client, activity: PendingFacts): Promise<OpenActivity> {
  const { activityType, activityId, attempt, lastFailure, state, activityOptions } = activity;
  const type = activityType?.name ?? 'unknown';
  const failure = lastFailure?.applicationFailureInfo;
  const queue = decodePendingActivityState(state) === 'SCHEDULED' ? activityOptions?.taskQueue?.name : null;
  const facts = {
    type,
    activityId: activityId ?? '',
    pause: pauseOfActivity(activity),
    queuedOn: queue || null,
  };
  // While another workflow watches its video, this activity fails and retries. That is not a real failure.
  if (type === ACTIVITY.watchVideo && failure?.type === RETRY_LATER)
    return { ...facts, attempt: 1, lastFailure: null, failureClass: null, waits: null };
  const tried = { ...facts, attempt: attempt ?? 1, waits: null };
  // Text from the user's own activities may repeat a prompt.
  if (!OURS.has(type)) return { ...tried, lastFailure: failure?.type ?? null, failureClass: null };
  const { loadedDataConverter } = client.options;
  const details = await readPayloads(loadedDataConverter, failure?.details?.payloads ?? []).catch(
    otherwise([]),
  );
  const { class: word, waits = null } = (details[0]?.value ?? {}) as {
    readonly class?: unknown;
    readonly waits?: OpenActivity['waits'];
  };
  const failureClass = typeof word === 'string' ? word : (failure?.type ?? null);
  return { ...tried, lastFailure: lastFailure?.message ?? null, failureClass, waits };
}
