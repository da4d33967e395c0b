import './quiet-temporal';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WorkerOptions } from '@temporalio/worker';
import { type SandboxOptions } from '../../packages/sandbox/src';
import { TemporalMediaClient } from '../../src/client';
import { given } from '../../src/domain/json';
import { type MediaConfig, readConfig } from '../../src/settings/config';
import { createMediaWorker, type MediaWorker, type MediaWorkerOptions } from '../../src/worker';
import { startTestSandbox, type TestSandbox } from './shared-sandbox';
import { newArtifactsPlace, newJournalPlace } from './store-places';
import { converterOfTests, PAYLOADS_ENV } from './stored-payloads';
import { connectTestServer, type TestServer } from './temporal';
import { testBundle } from './test-bundle';

/** Everything one end-to-end test file needs: the run's Temporal server, a sandbox of its own, workers of its own. */
export interface MediaStack {
  readonly server: TestServer;
  readonly sandbox: TestSandbox;
  readonly media: TemporalMediaClient;
  readonly taskQueue: string;
  readonly dataDir: string;
  /** Environment of a worker of this stack, for child processes. */
  readonly env: Record<string, string>;
  readonly config: MediaConfig;
  startWorker(options?: StartWorkerOptions): Promise<RunningWorker>;
  stop(): Promise<void>;
}

export interface StartWorkerOptions {
  readonly env?: Record<string, string>;
  readonly worker?: Partial<WorkerOptions>;
  readonly rebind?: MediaWorkerOptions['rebind'];
  /** Connects by itself, as a worker in a process of its own does: one connection carries one worker of a queue. */
  readonly ownConnection?: boolean;
  readonly media?: Pick<MediaWorkerOptions, 'artifacts' | 'journal' | 'workflows'>;
}

export interface RunningWorker {
  readonly media: MediaWorker;
  stop(): Promise<void>;
}

export const SANDBOX_KEY = 'sandbox-key';

export interface MediaStackOptions {
  readonly sandbox?: SandboxOptions;
  /** A Temporal server of the test's own, or a namespace on the run's. @default the run's */
  readonly temporal?: { readonly address?: string; readonly namespace: string };
}

export async function startMediaStack(options: MediaStackOptions = {}): Promise<MediaStack> {
  const dataDir = await mkdtemp(join(tmpdir(), 'temporal-media-test-'));
  const server = await connectTestServer(options.temporal);
  const sandbox = await startTestSandbox(options.sandbox);
  const taskQueue = server.uniqueId('media');
  const dataConverter = await converterOfTests(server.namespace);
  const env = {
    ...PAYLOADS_ENV,
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    MEDIA_BASE_URL: sandbox.url,
    MEDIA_API_KEY: SANDBOX_KEY,
    MEDIA_MODELS: sandbox.modelsUrl,
    MEDIA_ALLOWED_MEDIA_ORIGINS: new URL(sandbox.mediaUrl).origin,
    MEDIA_DATA_DIR: dataDir,
    MEDIA_JOURNAL: await newJournalPlace(join(dataDir, 'journal')),
    MEDIA_ARTIFACTS: await newArtifactsPlace(join(dataDir, 'artifacts')),
    MEDIA_TASK_QUEUE: taskQueue,
  };
  const running = new Set<RunningWorker>();
  return {
    server,
    sandbox,
    taskQueue,
    dataDir,
    env,
    config: readConfig(env),
    media: new TemporalMediaClient(server.client, { taskQueue }),
    async startWorker(worker: StartWorkerOptions = {}) {
      const media = await createMediaWorker({
        config: readConfig({ ...env, ...worker.env }),
        ...(worker.ownConnection === true
          ? { env }
          : { connection: server.nativeConnection, namespace: server.namespace }),
        ...(worker.rebind === undefined ? {} : { rebind: worker.rebind }),
        ...worker.media,
        workflows: await workflowsOf(worker.media?.workflows),
        worker: { shutdownGraceTime: '2 seconds', ...given({ dataConverter }), ...worker.worker },
      });
      const ended = media.run();
      // Waited for in stop(); a crash before that must not be an unhandled rejection.
      ended.catch(() => undefined);
      const handle: RunningWorker = {
        media,
        async stop() {
          running.delete(handle);
          if (media.worker.getState() === 'RUNNING') media.shutdown();
          await ended;
        },
      };
      running.add(handle);
      return handle;
    },
    async stop() {
      await Promise.all([...running].map((worker) => worker.stop()));
      await sandbox.close();
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Bundled beforehand, whichever they are. */
async function workflowsOf(
  workflows: MediaWorkerOptions['workflows'],
): Promise<NonNullable<MediaWorkerOptions['workflows']>> {
  if (workflows?.workflowBundle != null) return workflows;
  return { workflowBundle: await testBundle(workflows?.workflowsPath) };
}
