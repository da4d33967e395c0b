import { join } from 'node:path';
import { type SandboxOptions } from '@temporal-media/sandbox';
import { startSandboxProcess } from '@temporal-media/sandbox/internal/sandbox-process';
import { startTemporalServer, type StartTemporalServerOptions } from '@temporal-media/testing';
import { Client, Connection } from '@temporalio/client';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { mediaJournalScheduleId } from 'temporal-media/internal/domain/names';
import { childEnvironment } from 'temporal-media/internal/stores/files/this-machine';
import { type RunningChild, startChild } from './child-process';
import { SANDBOX_KEY, sandboxEnvironment, temporalEnvironment } from './dev-state';

/**
 * Returns the environment of a local run. It does not point to anything outside the run, such as a service, key, store,
 * Temporal server, codec server, proxy or telemetry collector.
 * @param usersServer whether to keep the variables that a connection to the user's Temporal server may need
 */
export function stackEnvironment(env: NodeJS.ProcessEnv, usersServer = false): NodeJS.ProcessEnv {
  const others = usersServer ? /^TEMPORAL_CODEC_/ : /_proxy$|^OTEL_|^TEMPORAL_(?!MEDIA_|CLI_PATH$)/i;
  return childEnvironment(env, others);
}

/** A worker's variables, in addition to those that connect it to the stack. */
type WorkerSettings = NodeJS.ProcessEnv & { readonly MEDIA_TASK_QUEUE: string };

interface StackOptions {
  /** What {@link stackEnvironment} returns. */
  readonly env: NodeJS.ProcessEnv;
  /** Folder for the workers' data and logs. */
  readonly dataDir: string;
  readonly server: StartTemporalServerOptions;
  readonly sandbox: SandboxOptions;
  /** The first worker. */
  readonly worker: WorkerSettings;
}

const WORKER_GRACE_MS = 20_000;

/**
 * Starts a server, a sandbox and a worker, each in its own process. `close` and a failed start stop them in reverse
 * order. Workers come first, because a worker finishes its creates before it exits.
 */
export async function startStack({ env, dataDir, ...options }: StackOptions) {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    try {
      await undo.pop()?.();
    } finally {
      if (undo.length > 0) await close();
    }
  };
  try {
    const server = await startTemporalServer({ env, ...options.server });
    undo.push(() => server.stop());
    const sandbox = await startSandboxProcess({ ...options.sandbox, apiKeys: [SANDBOX_KEY] });
    undo.push(() => sandbox.close());
    const connection = await Connection.connect({ ...server.connection, address: server.address });
    undo.push(() => connection.close());
    const client = new Client({ connection, namespace: server.namespace });
    const startWorker = async (settings: WorkerSettings): Promise<RunningChild<object>> => {
      const queue = settings.MEDIA_TASK_QUEUE;
      // The binding of a queue that is never used again must not remain on the user's server.
      const binding = client.schedule.getHandle(mediaJournalScheduleId(queue));
      if (!server.startedByUs) undo.push(() => binding.delete().catch(otherwise(undefined)));
      const child = await startChild<object>(['worker', '--json'], {
        logFile: join(dataDir, 'logs', `${queue}.log`),
        env: {
          ...temporalEnvironment(server, env, dataDir),
          ...sandboxEnvironment(sandbox, {}),
          MEDIA_DATA_DIR: dataDir,
          ...settings,
        },
      });
      undo.push(() => child.stop(WORKER_GRACE_MS));
      return child;
    };
    await startWorker(options.worker);
    return { server, sandbox, client, startWorker, close };
  } catch (error) {
    await close();
    throw error;
  }
}
