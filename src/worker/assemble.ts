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
 * Returns the version of all workers of a process: the user's, else that of MEDIA_DEPLOYMENT. Its default behavior is
 * for workflows that name none; ours do. @throws WorkerSetupError
 */
export function versionOf(
  { deployment }: Pick<MediaConfig, 'deployment'>,
  users: WorkerOptions['workerDeploymentOptions'],
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (users !== undefined) {
    // Our workflows name a behavior once their worker has a version; the server accepts that of versioned workers only.
    if (!users.useWorkerVersioning && users.version.deploymentName !== '')
      throw new WorkerSetupError(
        `workerDeploymentOptions name the version "${users.version.deploymentName}:${users.version.buildId}" with useWorkerVersioning: false: the server would ` +
          'refuse every workflow task of temporal-media. Set useWorkerVersioning to true, or leave workerDeploymentOptions out.',
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
  /** @default read from `env` */
  readonly config?: MediaConfig;
  /** Source of MEDIA_* and, for our own worker, TEMPORAL_*. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** What the workers serve, see docs/operations.md. @default `config.serve` (MEDIA_SERVE), else everything */
  readonly serve?: readonly ServedPart[];
  /**
   * Binds the queue to this journal instead of another one, which no worker may use any more. `true` accepts the lost
   * calls; a function receives them before anything is changed, and throws to refuse.
   */
  readonly rebind?: Rebind;
  /** Slots and rates of the activity queues. @default 50 create, 50 poll, 20 download, 20 image activities at a time */
  readonly queues?: ActivityQueuesOptions;
}

/** Options by which paid calls outlive a shutdown and are reported at once. */
export const PAID_LIMITS = {
  /**
   * For activities that stop on shutdown, such as downloads. A paid call in flight is always finished: cutting it off
   * would make its fate unknown (failure model: row 12).
   */
  shutdownGraceTime: CREATE_TIMEOUTS.httpBudgetMs + 15_000,
  // The heartbeat with the id of a new task is sent at once instead of after a long throttle interval.
  maxHeartbeatThrottleInterval: '1 second',
  defaultHeartbeatThrottleInterval: '1 second',
} as const satisfies Partial<WorkerOptions>;

/** @throws ConfigurationError */
export function servedOf({ serve }: ServingOptions, config: MediaConfig): Served {
  return servedBy(serve === undefined ? config.serve : checkServe(serve, 'serve'));
}

/** The accounts of a worker, from the configuration and from code. @throws ConfigurationError if there are none */
export function openWorkerAccounts({ accounts }: ServingOptions, config: MediaConfig): AccountSet {
  return openAccounts({
    config,
    accounts,
    warn: (message) => {
      Runtime.instance().logger.warn(message);
    },
  });
}

/** What a worker is assembled from. */
export interface Assembly {
  readonly media: ServingOptions;
  readonly config: MediaConfig;
  readonly served: Served;
}

/**
 * Returns the options of a worker with our version, Nexus services and activities beside the user's, and what its
 * activity queues serve.
 * @param users what the user or we have given otherwise
 * @param activities ours; none if only workflows are served
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

/** Slots and rates of the activity queues, with the configured rate of creates. */
function queuesOf(
  { createsPerSecond }: MediaConfig,
  queues: ActivityQueuesOptions | undefined,
): ActivityQueuesOptions {
  if (createsPerSecond === undefined) return { ...queues };
  return { ...queues, create: { maxTaskQueueActivitiesPerSecond: createsPerSecond, ...queues?.create } };
}
