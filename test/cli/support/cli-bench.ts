import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type SandboxOptions } from '../../../packages/sandbox/src';
import { startTestSandbox, type TestSandbox } from '../../support/shared-sandbox';
import { connectTestServer, type TestServer } from '../../support/temporal';
import { type CliProcess, startCli } from './run-cli';

/** A sandbox, a task queue and a data directory of one test file on the server of the run. */
export interface CliBench {
  readonly server: TestServer;
  readonly sandbox: TestSandbox;
  readonly dir: string;
  /** What client commands need; no key. */
  readonly clientEnv: NodeJS.ProcessEnv;
  readonly workerEnv: NodeJS.ProcessEnv;
  /** Starts `temporal-media worker` and waits until it is ready. */
  startWorker(env?: NodeJS.ProcessEnv): Promise<CliProcess>;
  close(): Promise<void>;
}

export async function openCliBench(sandboxOptions: SandboxOptions = {}): Promise<CliBench> {
  const dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-cli-'));
  const server = await connectTestServer();
  const sandbox = await startTestSandbox(sandboxOptions);
  const clientEnv = {
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    MEDIA_TASK_QUEUE: server.uniqueId('cli'),
    MEDIA_DATA_DIR: path.join(dir, 'data'),
  };
  const workerEnv = {
    ...clientEnv,
    MEDIA_BASE_URL: sandbox.url,
    MEDIA_API_KEY: 'sandbox-key',
    MEDIA_MODELS: sandbox.modelsUrl,
    MEDIA_ALLOWED_MEDIA_ORIGINS: sandbox.mediaUrl,
  };
  const workers: CliProcess[] = [];
  return {
    server,
    sandbox,
    dir,
    clientEnv,
    workerEnv,
    startWorker: async (env = {}) => {
      const worker = startCli(['worker'], { ...workerEnv, ...env });
      workers.push(worker);
      await worker.untilLine('stderr', /^Ready: task queue/);
      return worker;
    },
    close: async () => {
      for (const worker of workers) worker.child.kill('SIGTERM');
      await Promise.all(workers.map((worker) => worker.ended));
      await sandbox.close();
      await server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
