import { type Readable } from 'node:stream';
import { Client } from '@temporalio/client';
import {
  type ActivityInterceptorsFactory,
  bundleWorkflowCode,
  DefaultLogger,
  type InjectedSinks,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { type ArtifactRef } from '../../../src/domain';
import { MediaPlugin, type MediaPluginOptions } from '../../../src/plugin';
import { type ArtifactStore, openArtifactStore } from '../../../src/stores';
import { type MediaStack } from '../../support/media-stack';
import { type UsersActivities, type UsersSinks } from '../users/workflows';

export const USERS_WORKFLOWS = require.resolve('../users/workflows');
export const dataConverter = { payloadConverterPath: require.resolve('../users/converter') };
export const workflowModules = [require.resolve('../users/interceptors')];

/** What the user's interceptors and sinks have seen. */
export interface Seen {
  /** Runs of each activity, by its type. */
  readonly activities: Map<string, number>;
  readonly premieres: string[];
}

/** A worker as its user wrote it before there was a plugin, on a queue of its own. */
export interface UsersWorker {
  readonly taskQueue: string;
  readonly client: Client;
  readonly media: MediaPlugin;
  readonly seen: Seen;
  readonly options: WorkerOptions;
}

export function usersWorker(
  { server, config }: MediaStack,
  name: string,
  media: MediaPluginOptions = {},
): UsersWorker {
  const taskQueue = server.uniqueId(name);
  const seen: Seen = { activities: new Map(), premieres: [] };
  const counts: ActivityInterceptorsFactory = ({ info }) => ({
    inbound: {
      execute(input, next) {
        seen.activities.set(info.activityType, (seen.activities.get(info.activityType) ?? 0) + 1);
        return next(input);
      },
    },
  });
  const sinks: InjectedSinks<UsersSinks> = {
    log: { premiere: { fn: (_info, film) => void seen.premieres.push(film) } },
  };
  return {
    taskQueue,
    client: new Client({
      connection: server.client.connection,
      namespace: server.namespace,
      dataConverter,
    }),
    media: new MediaPlugin({ config, ...media }),
    seen,
    options: {
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue,
      dataConverter,
      sinks,
      activities: usersActivities(() => openArtifactStore(config)),
      interceptors: { activity: [counts], workflowModules },
    },
  };
}

function usersActivities(open: () => Promise<ArtifactStore>): UsersActivities {
  return {
    async sizeOf(artifact: ArtifactRef) {
      let bytes = 0;
      const stream: Readable = await (await open()).read(artifact);
      for await (const chunk of stream) bytes += (chunk as Buffer).length;
      return bytes;
    },
  };
}

/** A bundle as a build makes it before a worker starts. */
export async function prebuilt(
  workflowsPath: string,
  plugins: readonly MediaPlugin[],
): Promise<{ readonly code: string }> {
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: workflowModules,
    payloadConverterPath: dataConverter.payloadConverterPath,
    plugins: [...plugins],
    logger: new DefaultLogger('ERROR'),
  });
}

/** Runs a worker while `work` is done, and until all of it has drained. */
export async function whileRunning<T>(options: WorkerOptions, work: () => Promise<T>): Promise<T> {
  const worker = await Worker.create(options);
  return worker.runUntil(work);
}
