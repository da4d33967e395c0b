import { Runtime, type WorkerOptions } from '@temporalio/worker';
import { type Served, servedBy, type ServedPart } from '../domain/names';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { WorkerSetupError } from '../installation';
import { type AccountSet, openAccounts } from '../settings/account-set';
import { checkServe, type MediaConfig } from '../settings/config';
import { type ActivityQueuesOptions, type ServedQueues } from './activity-workers';
import { type Rebind } from './bind-queue';
import { joinActivities } from './join-bundle';
import { nexusServicesOf } from './media-nexus-service';
import { type PartsOptions } from './media-parts';

/**
 * Returns the deployment version for all workers of a process: the user's, or else MEDIA_DEPLOYMENT. The default
 * versioning behavior applies only to workflows that do not set their own. This package's workflows set theirs.
 * @throws WorkerSetupError
 */
export function versionOf(
  { deployment }: Pick<MediaConfig, 'deployment'>,
  users: WorkerOptions['workerDeploymentOptions'],
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (users !== undefined) {
    // This package's workflows set a behavior if their worker has a version, but the server accepts one only if
    // versioning is on.
    if (!users.useWorkerVersioning && users.version.deploymentName !== '')
      throw new WorkerSetupError(
        `workerDeploymentOptions has the version "${users.version.deploymentName}:${users.version.buildId}" but useWorkerVersioning: false. The server would ` +
          'reject every temporal-media workflow task. Set useWorkerVersioning to true, or omit workerDeploymentOptions.',
      );
    return {};
  }
  if (deployment === undefined) return {};
  const { name: deploymentName, buildId } = deployment;
  return {
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName, buildId },
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

/** Options that `createMediaWorker` and `MediaPlugin` share. */
export interface ServingOptions extends PartsOptions {
  /** The resolved settings. @default read from `env` */
  readonly config?: MediaConfig;
  /** Source of MEDIA_* variables and, for `createMediaWorker`, TEMPORAL_* variables. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** The parts that the workers serve, see docs/operations.md. @default `config.serve` (MEDIA_SERVE), or everything */
  readonly serve?: readonly ServedPart[];
  /**
   * Binds the queue to this journal instead of its current one, which no worker may use afterward. `true` accepts the
   * lost calls. A function receives the lost calls before anything changes, and can throw to refuse them.
   */
  readonly rebind?: Rebind;
  /** Slots and rates of the activity queues. @default 50 create, 50 poll, 20 download, 20 image activities at a time */
  readonly queues?: ActivityQueuesOptions;
}

/** Options that let paid calls finish during a shutdown and let heartbeats be sent immediately. */
export const PAID_LIMITS = {
  /**
   * Applies to activities that stop on shutdown, such as downloads. A paid call in flight always finishes, because
   * cutting it off would make its outcome unknown (failure model: row 12).
   */
  shutdownGraceTime: CREATE_TIMEOUTS.httpBudgetMs + 15_000,
  // Sends the heartbeat with a new task's ID almost immediately instead of after a long throttle interval.
  maxHeartbeatThrottleInterval: '1 second',
  defaultHeartbeatThrottleInterval: '1 second',
} as const satisfies Partial<WorkerOptions>;

/** Returns the parts to serve, from the options or the configuration. @throws ConfigurationError */
export function servedOf({ serve }: ServingOptions, config: MediaConfig): Served {
  return servedBy(serve === undefined ? config.serve : checkServe(serve, 'serve'));
}

/**
 * Opens a worker's accounts, both configured ones and ones passed in code. @throws ConfigurationError if there are none
 */
export function openWorkerAccounts({ accounts }: ServingOptions, config: MediaConfig): AccountSet {
  return openAccounts({
    config,
    accounts,
    warn: (message) => {
      Runtime.instance().logger.warn(message);
    },
  });
}

/** The input for assembling a worker. */
export interface Assembly {
  readonly media: ServingOptions;
  readonly config: MediaConfig;
  readonly served: Served;
}

/**
 * Returns two things: a worker's options, which add this package's version, Nexus services and activities to the
 * user's, and the settings for its activity queues.
 * @param users all other options, from the user or from this package
 * @param activities this package's activities; empty if only workflows are served
 * @throws WorkerSetupError
 */
export function assembleWorker(
  { media, config, served }: Assembly,
  users: WorkerOptions,
  activities: object = {},
): { readonly options: WorkerOptions; readonly served: ServedQueues & Pick<Served, 'kinds'> } {
  const joined = served.ownActivities ? joinActivities(users.activities, activities) : users.activities;
  return {
    options: {
      ...versionOf(config, users.workerDeploymentOptions),
      ...users,
      ...nexusServicesOf(config, users.nexusServices),
      ...(joined !== undefined && { activities: joined }),
    },
    served: { queues: queuesOf(config, media.queues), kinds: served.kinds, activities },
  };
}

/** Slots and rates of the activity queues, including the configured create rate. */
function queuesOf(
  { createsPerSecond }: MediaConfig,
  queues: ActivityQueuesOptions | undefined,
): ActivityQueuesOptions {
  if (createsPerSecond === undefined) return { ...queues };
  return { ...queues, create: { maxTaskQueueActivitiesPerSecond: createsPerSecond, ...queues?.create } };
}
