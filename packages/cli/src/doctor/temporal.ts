import { join } from 'node:path';
import { Connection, ScheduleClient } from '@temporalio/client';
import {
  accountsOfOthers,
  isSetBack,
  readQueueBinding,
} from 'temporal-media/internal/activities/binding/bind-journal';
import { isGrpcNotFound } from 'temporal-media/internal/client/workflow-service';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { differenceOf, DIFFERS, type QueueBinding } from 'temporal-media/internal/domain/journal';
import { activityQueues } from 'temporal-media/internal/domain/names';
import { JournalRecordError } from 'temporal-media/internal/stores/journal/records';
import { existingJournal, openArtifactStore, schemeOf } from 'temporal-media/internal/stores/open-stores';
import { isOlder, lackingIn, OLDEST_SERVER } from 'temporal-media/internal/worker/temporal-server-version';
import { type JournalIdentity } from 'temporal-media/stores';
import {
  isFullyUsed,
  type PollerKind,
  pollsForNewWork,
  type QueueView,
  STALE_POLL_MS,
  versionText,
  viewQueue,
  type WorkerVersion,
} from '../shared/execution-state';
import { errorType } from '../shared/exit-codes';
import { shellWord } from '../shared/text';
import { type DoctorCheck, type DoctorFacts, failedCheck, type Finding, ok, warning } from './check';
import { folderState } from './local';

const CALL_MS = 3_000;
const KINDS: readonly PollerKind[] = ['workflows', 'activities'];

/** When each worker last polled, in milliseconds since the Unix epoch. */
interface QueuePollers {
  readonly workflows: readonly number[];
  readonly activities: readonly number[];
}

/** Whether workers poll the task queue for workflow tasks and activity tasks. */
export const workers: DoctorCheck = {
  name: 'workers',
  title: 'Workers',
  after: ['namespace'],
  limitMs: CALL_MS + 500,
  late: 'temporal_unreachable',
  run: async ({ target, dev, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('There is no connection.');
    const { namespace, taskQueue } = target;
    const view = (queue: string, kind: PollerKind) => viewQueue(connection, namespace, queue, kind, CALL_MS);
    const queues = Object.values(activityQueues(taskQueue));
    // Concurrent, because sequential calls would exceed the check's time limit.
    const all = await Promise.all([
      ...KINDS.map((kind) => view(taskQueue, kind)),
      ...queues.map((queue) => view(queue, 'activities')),
    ]);
    const [workflows, activities, ...others] = all;
    const now = Date.now();
    for (const view of [workflows, activities]) {
      const idle = view && checkVersions(view, taskQueue, now);
      if (idle !== undefined) return idle;
    }
    const pollers = { workflows: pollsOf(workflows), activities: pollsOf(activities) };
    const finding = checkPollers(pollers, taskQueue, now);
    if (finding.state === 'ok') {
      const served = queues.map((queue, place) => [queue, pollsOf(others[place])] as const);
      const views = [taskQueue, taskQueue, ...queues].map((queue, place) => [queue, all[place]] as const);
      return checkSlots(checkActivityQueues(finding, served, now), views, now);
    }
    if (finding.state !== 'failed' || dev === undefined || dev.taskQueue === taskQueue) return finding;
    const remedy = `${finding.remedy} The \`dev\` for this data directory polls "${dev.taskQueue}".`;
    return { ...finding, remedy };
  },
};

const pollsOf = (view: QueueView | undefined): readonly number[] =>
  view === undefined ? [] : pollsForNewWork(view);

/**
 * Checks the separate queues for creates, polls, downloads and images, which a custom worker might not poll.
 */
export function checkActivityQueues(
  served: Finding,
  queues: readonly (readonly [queue: string, polls: readonly number[]])[],
  now: number,
): Finding {
  const unserved = queues.filter(([, polls]) => polls.every((at) => now - at > STALE_POLL_MS));
  if (unserved.length === 0) return served;
  const names = unserved.map(([queue]) => queue).join(', ');
  return failedCheck(
    'no_worker',
    `${served.message}, but no worker polls ${names}, so tasks on these queues would wait.`,
    'Run `temporal-media worker` or use createMediaWorker. If you assemble workers yourself, use createWorkers.',
  );
}

/** Warns about queues on which every worker has all slots in use, which only their heartbeats show. */
export function checkSlots(
  served: Finding,
  queues: readonly (readonly [queue: string, view: QueueView | undefined])[],
  now: number,
): Finding {
  if (served.state !== 'ok') return served;
  const full = queues.flatMap(([queue, view]) => (view && isFullyUsed(view, now) ? [queue] : []));
  if (full.length === 0) return served;
  return warning(
    `${served.message}, but all slots are in use on ${[...new Set(full)].join(', ')}, so other tasks wait.`,
    'Tasks start when running ones end. To run more at a time, start another worker.',
  );
}

/**
 * @param now milliseconds since the Unix epoch. If this clock is behind the server's, the last poll counts as current
 */
export function checkPollers(pollers: QueuePollers, taskQueue: string, now: number): Finding {
  const missing = KINDS.filter((kind) => pollers[kind].length === 0);
  if (missing.length === KINDS.length)
    return failedCheck('no_worker', `No worker is polling task queue "${taskQueue}".`);
  if (missing.length > 0) {
    const message = `No worker is polling task queue "${taskQueue}" for ${missing[0]}.`;
    return failedCheck('no_worker', message);
  }
  const age = Math.max(...KINDS.map((kind) => now - Math.max(...pollers[kind])));
  if (age > STALE_POLL_MS) {
    const message = `Task queue "${taskQueue}" was last polled ${Math.round(age / 1_000)} s ago: its worker is gone or has no free slot.`;
    return failedCheck(
      'no_worker',
      message,
      `${errorType('no_worker').hint} A busy worker may just need more time.`,
    );
  }
  const count = Math.min(...KINDS.map((kind) => pollers[kind].length));
  return ok(`${count} ${count === 1 ? 'worker polls' : 'workers poll'} task queue "${taskQueue}"`);
}

const CONNECT_MS = 4_000;
/** gRPC PERMISSION_DENIED and UNAUTHENTICATED. */
const REFUSED: ReadonlySet<unknown> = new Set([7, 16]);

/** Whether the Temporal server responds, and which version it has. */
export const temporalServer: DoctorCheck = {
  name: 'temporal',
  title: 'Temporal server',
  after: [],
  limitMs: CONNECT_MS + 1_000,
  late: 'temporal_unreachable',
  run: async ({ target, session, env }) => {
    if ('problem' in target) throw target.problem;
    const { address, foundBy } = target;
    const where = `${address} (from ${foundBy})`;
    let connection: Connection;
    try {
      connection = await Connection.connect({
        ...target.connection,
        address,
        connectTimeout: CONNECT_MS,
      });
    } catch (error) {
      return isRefusal(error)
        ? failedCheck('temporal_credentials', `The Temporal server at ${where} denied access.`)
        : failedCheck('temporal_unreachable', `No Temporal server responded at ${where}.`, remedy(env));
    }
    session.connection = connection;
    const { serverVersion } = await connection.withDeadline(Date.now() + CONNECT_MS, () =>
      connection.workflowService.getSystemInfo({}),
    );
    return checkServerVersion(serverVersion, where);
  },
};

export function checkServerVersion(version: string | null | undefined, where: string): Finding {
  if (!version) return ok(`responds at ${where}, without reporting its version`);
  const lacks = lackingIn(version);
  if (lacks.length === 0) return ok(`${version} at ${where}`);
  return warning(
    `Version ${version} at ${where} lacks ${lacks.join('; ')}.`,
    isOlder(version, OLDEST_SERVER)
      ? `Upgrade to Temporal server ${OLDEST_SERVER} or later.`
      : 'Upgrade the server if you need these features. Videos and images do not.',
  );
}

/** Whether the server denied access, rather than not responding. */
export function isRefusal(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return REFUSED.has(code) || REFUSED.has(cause?.code);
}

/** gRPC reads these variables only in lowercase, and applies them to every host that is not in no_proxy. */
function remedy(env: NodeJS.ProcessEnv): string {
  const hint = errorType('temporal_unreachable').hint;
  const proxy = ['grpc_proxy', 'https_proxy', 'http_proxy'].find((name) => env[name]);
  return proxy === undefined ? hint : `${hint} If ${proxy} must not apply to it, add its host to no_proxy.`;
}

/** gRPC codes: CANCELLED (this client's deadline), DEADLINE_EXCEEDED, UNAVAILABLE. */
const NO_ANSWER: ReadonlySet<unknown> = new Set([1, 4, 14]);

const NAMESPACE_CALL_MS = 3_000;
const SECONDS_OF_A_DAY = 86_400;

/** Whether the namespace exists and this client may read it. */
export const namespaceCheck: DoctorCheck = {
  name: 'namespace',
  title: 'Namespace',
  after: ['temporal'],
  limitMs: NAMESPACE_CALL_MS + 500,
  late: 'temporal_unreachable',
  run: async ({ target, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('There is no connection.');
    const { namespace } = target;
    try {
      const { config } = await connection.withDeadline(Date.now() + NAMESPACE_CALL_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      const seconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
      return ok(seconds === 0 ? namespace : `${namespace}; keeps closed workflows for ${daysOf(seconds)}`);
    } catch (error) {
      const finding = checkLookUp(error, namespace);
      if (finding === undefined) throw error;
      return finding;
    }
  },
};

/** Explains why a responding server cannot look up the namespace. Undefined if the cause is unknown. */
export function checkLookUp(error: unknown, namespace: string): Finding | undefined {
  if (isGrpcNotFound(error))
    return failedCheck(
      'namespace_not_found',
      `Namespace "${namespace}" does not exist on the Temporal server.`,
    );
  if (isRefusal(error))
    return failedCheck(
      'temporal_credentials',
      `The Temporal server denied access to namespace "${namespace}".`,
    );
  // The server reports its version from memory but reads namespaces from its database.
  if (NO_ANSWER.has((error as { code?: unknown }).code))
    return failedCheck(
      'temporal_unreachable',
      `The Temporal server responds but cannot look up namespace "${namespace}". Its database may be down.`,
      "Check the Temporal server's log and database. This machine's settings are not the cause. Running workflows continue when the database is back.",
    );
  return undefined;
}

function daysOf(seconds: number): string {
  const days = Number((seconds / SECONDS_OF_A_DAY).toFixed(2));
  return days === 1 ? '1 day' : `${days} days`;
}

/** The journal, store and accounts of a worker with this environment. */
export interface OwnSide {
  /** Null if the journal has not been created yet. */
  readonly journal: (JournalIdentity & { readonly isSetBack: boolean }) | null;
  /** The artifact store's id. Null if the store does not exist. */
  readonly artifacts: string | null;
  /** Empty without a valid base URL. */
  readonly accounts: readonly string[];
}

/** Whether the task queue's binding allows a worker with this journal and artifact store (architecture: Create). */
export const binding: DoctorCheck = {
  name: 'binding',
  title: 'Journal binding',
  after: ['namespace', 'journal'],
  workerSide: true,
  limitMs: 4_000,
  late: 'temporal_unreachable',
  run: async ({ target, config, accounts, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('There is no connection.');
    const { namespace, taskQueue } = target;
    const found = await readQueueBinding(new ScheduleClient({ connection, namespace }), taskQueue);
    const queueBinding = found?.queueBinding ?? null;
    let journal: OwnSide['journal'];
    try {
      journal = await journalOf(config, queueBinding);
    } catch (error) {
      if (error instanceof JournalRecordError) return failedCheck('journal_unusable', error.message);
      throw error;
    }
    const artifacts = await artifactsOf(config);
    const names = accounts.map(({ name }) => name);
    return checkBinding(queueBinding, { journal, artifacts, accounts: names }, taskQueue);
  },
};

/** Returns null if there is no journal yet, because reading its identity would create one. */
async function journalOf(
  config: DoctorFacts['config'],
  queueBinding: QueueBinding | null,
): Promise<OwnSide['journal']> {
  const journal = await existingJournal(config);
  if (journal === undefined) return null;
  return { ...(await journal.identity()), isSetBack: await isSetBack(queueBinding, journal) };
}

/** Returns null for a missing or broken store, which the artifacts check reports. */
async function artifactsOf(config: DoctorFacts['config']): Promise<string | null> {
  const { artifacts: place } = config;
  if (schemeOf(place) === undefined && (await folderState(join(place, 'store.json'))) === 'missing')
    return null;
  const store = await openArtifactStore(config);
  return (await store.identity?.().catch(otherwise(null))) ?? null;
}

export function checkBinding(
  queueBinding: QueueBinding | null,
  { journal, artifacts, accounts }: OwnSide,
  taskQueue: string,
): Finding {
  const queue = `Task queue "${taskQueue}"`;
  if (queueBinding === null) return ok(`the first worker will bind task queue "${taskQueue}" to its journal`);
  if (journal === null)
    return failedCheck(
      'journal_binding',
      `${queue} is bound to a journal, but this machine has no journal yet.`,
    );
  const difference = differenceOf(queueBinding, { ...journal, artifacts, accounts: [], mark: null });
  if (difference === 'artifacts') {
    const remedy =
      "Set MEDIA_ARTIFACTS or MEDIA_DATA_DIR to the other workers' value, or use another task queue (MEDIA_TASK_QUEUE). If the store is lost, restore it. If you cannot, `temporal-media worker --rebind` accepts the loss of its content.";
    return failedCheck('journal_binding', `${queue} ${DIFFERS[difference]}`, remedy);
  }
  if (difference !== undefined) return failedCheck('journal_binding', `${queue} ${DIFFERS[difference]}`);
  if (journal.isSetBack) {
    const message = `${queue} records paid calls that are missing from this journal: it is an older copy.`;
    return failedCheck(
      'journal_binding',
      message,
      'Restore the current journal. If it is lost, stop all workers and run `temporal-media worker --rebind` once.',
    );
  }
  const others = accounts.length === 0 ? undefined : accountsOfOthers(queueBinding.accounts, accounts);
  if (others !== undefined)
    return warning(
      others,
      'Check that a worker with these accounts is running. If they are no longer used, ignore this warning.',
    );
  return ok(`task queue "${taskQueue}" is bound to this journal`);
}

/** Returns the command that routes new work to a version. */
export function makeCurrent({ deploymentName, buildId }: WorkerVersion): string {
  return `\`temporal worker deployment set-current-version --deployment-name ${shellWord(deploymentName)} --build-id ${shellWord(buildId)}\``;
}

/**
 * Reports workers that poll but get no new work because it is routed to another version. Returns undefined if some
 * worker gets new work, or if none polls. @param now milliseconds since the Unix epoch
 */
export function checkVersions(view: QueueView, taskQueue: string, now: number): Finding | undefined {
  const isFresh = (at: number): boolean => now - at <= STALE_POLL_MS;
  if (pollsForNewWork(view).some(isFresh)) return undefined;
  const waiting = view.pollers.filter(({ at }) => isFresh(at));
  const [idle] = waiting.flatMap(({ version }) => version ?? []);
  const [current] = view.current;
  if (idle === undefined) {
    if (current === undefined || waiting.length === 0) return undefined;
    return failedCheck(
      'no_worker',
      `The current version of task queue "${taskQueue}" is ${versionText(current)}, but only unversioned workers poll it, and they get no new work.`,
      `Start a worker with version ${versionText(current)}, or route new work to unversioned workers: \`temporal worker deployment set-current-version --deployment-name ${shellWord(current.deploymentName)} --unversioned\`.`,
    );
  }
  const polling = `Workers with version ${versionText(idle)} poll task queue "${taskQueue}"`;
  return current === undefined
    ? failedCheck(
        'no_worker',
        `${polling}, but no version is current, so they get no new work.`,
        `Make this version current: ${makeCurrent(idle)}.`,
      )
    : failedCheck(
        'no_worker',
        `${polling}, but the current version is ${versionText(current)} and none of its workers poll, so new work does not start.`,
        `Start a worker with version ${versionText(current)}, or make the polling version current: ${makeCurrent(idle)}.`,
      );
}
