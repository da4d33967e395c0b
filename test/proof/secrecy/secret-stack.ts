import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SandboxProcess, startSandboxProcess } from '../../../packages/sandbox/src';
import { TemporalMediaClient } from '../../../src/client';
import { type CliProcess, type CliRun, runCli, startCli } from '../../cli/support/run-cli';
import { makePng } from '../../stores/artifacts/make-media';
import { connectProxy, type ConnectProxy } from '../../support/connect-proxy';
import { connectTestServer, type TestServer } from '../../support/temporal';
import { FILE_NAME, KEY, PROXY_PASSWORD, SIGNATURE } from './canaries';
import { foreignHost, type ForeignHost } from './foreign-host';

/** A worker as an operator runs it, at its most talkative, with a secret in every place where one may be configured. */
export interface SecretStack {
  readonly server: TestServer;
  readonly sandbox: SandboxProcess;
  readonly proxy: ConnectProxy;
  readonly foreign: ForeignHost;
  readonly media: TemporalMediaClient;
  readonly taskQueue: string;
  readonly dir: string;
  readonly dataDir: string;
  readonly tempDir: string;
  /** A picture of a user, by a name that tells something. */
  readonly userFile: string;
  readonly workerEnv: NodeJS.ProcessEnv;
  /** Without the key and the proxy. */
  readonly clientEnv: NodeJS.ProcessEnv;
  startWorker(): Promise<CliProcess>;
  cli(...args: readonly string[]): Promise<CliRun>;
  close(): Promise<void>;
}

export async function startSecretStack(): Promise<SecretStack> {
  const dir = await mkdtemp(join(tmpdir(), 'temporal-media-secrecy-'));
  const [server, foreign, sandbox, proxy] = await Promise.all([
    connectTestServer(),
    foreignHost(),
    startSandboxProcess({ apiKeys: [KEY.value], timing: { queuedMs: 0, runningMs: 500 } }),
    connectProxy({ credentials: `operator:${PROXY_PASSWORD.value}` }),
  ]);
  const taskQueue = server.uniqueId('secrecy');
  const dataDir = join(dir, 'data');
  const tempDir = join(dir, 'temp');
  const userFile = join(dir, 'pictures', `${FILE_NAME.value}.png`);
  await mkdir(tempDir);
  await mkdir(join(dir, 'pictures'));
  await writeFile(userFile, makePng(23, 17));
  const clientEnv = {
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    MEDIA_TASK_QUEUE: taskQueue,
    MEDIA_DATA_DIR: dataDir,
    TMPDIR: tempDir,
  };
  const through = `http://operator:${encodeURIComponent(PROXY_PASSWORD.value)}@127.0.0.1:${proxy.port}`;
  const workerEnv = {
    ...clientEnv,
    MEDIA_BASE_URL: sandbox.url,
    MEDIA_API_KEY: KEY.value,
    MEDIA_MODELS: `${sandbox.modelsUrl}?X-Amz-Signature=${SIGNATURE.value}`,
    MEDIA_ALLOWED_MEDIA_ORIGINS: [new URL(sandbox.mediaUrl).origin, foreign.origin].join(','),
    MEDIA_INPUT_ROOTS: join(dir, 'pictures'),
    HTTP_PROXY: through,
    HTTPS_PROXY: through,
    // The Temporal server is no service.
    NO_PROXY: server.address,
  };
  const workers: CliProcess[] = [];
  return {
    ...{ server, sandbox, proxy, foreign, taskQueue, dir, dataDir, tempDir, userFile, workerEnv, clientEnv },
    media: new TemporalMediaClient(server.client, { taskQueue }),
    startWorker: async () => {
      const worker = startCli(['worker', '--log-level', 'TRACE'], workerEnv);
      workers.push(worker);
      await worker.untilLine('stderr', /^Ready: task queue/);
      return worker;
    },
    cli: (...args) => runCli(args, clientEnv, dir),
    close: async () => {
      for (const { child } of workers) child.kill('SIGKILL');
      await Promise.all(workers.map(({ ended }) => ended));
      await Promise.all([sandbox.close(), proxy.close(), foreign.close()]);
      await server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Arguments of a process and of everything below it, and the names of their variables, as any user of the machine may see. */
export async function commandLine(pid: number | undefined): Promise<string> {
  return readFile(`/proc/${pid ?? 'self'}/cmdline`, 'utf8').catch(() => '');
}
