import { setTimeout as delay } from 'node:timers/promises';
import { probeNamespace } from './namespace-probe';
import { type ServerArguments, serverArguments } from './server-arguments';
import { ServerProcess } from './server-process';
import { type Environment, type ExecutableSource } from './source';

/** Everything that one launch needs. */
export interface Launch extends ServerArguments {
  readonly executable: ExecutableSource;
  readonly env: Environment;
  readonly logFile: string;
  readonly retentionSeconds: number;
  /** Called before the server is waited for; a rejection stops it. */
  readonly onSpawn?: (pid: number) => Promise<void>;
}

/** A server that answers. */
export interface LaunchedServer {
  readonly process: ServerProcess;
  readonly address: string;
  readonly retention: string;
}

/** Why a launch gave no server; `slow` and `port` are worth another try. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
  constructor(
    readonly kind: 'slow' | 'port' | 'ended',
    message: string,
  ) {
    super(message);
  }
}

const RETRY_MS = 50;
/** A child that could not bind the port has ended long before this. */
const BANNER_PATIENCE_MS = 3_000;

/**
 * Starts one server and waits until it answers gRPC with the namespace and retention that were asked for.
 * @throws LaunchError when it ends early, cannot bind, or does not answer within `timeoutMs`; nothing is left running.
 */
export async function launchServer(launch: Launch, timeoutMs: number): Promise<LaunchedServer> {
  const address = `127.0.0.1:${launch.port}`;
  const child = await ServerProcess.spawn(
    launch.executable.path,
    serverArguments(launch),
    launch.env,
    launch.logFile,
  );
  try {
    await launch.onSpawn?.(child.pid);
    await untilItListens(child, launch.port, Date.now() + Math.min(timeoutMs, BANNER_PATIENCE_MS));
    const retention = await untilItAnswers(child, address, launch, Date.now() + timeoutMs);
    return { process: child, address, retention };
  } catch (error) {
    await child.stop('kill');
    throw error;
  }
}

/**
 * The server prints its port after it has bound it. Without that line a foreign server on the same port could be
 * taken for ours while our child is still about to fail; another wording is accepted after a while.
 */
async function untilItListens(child: ServerProcess, port: number, until: number): Promise<void> {
  const banner = new RegExp(`^(Temporal )?Server:\\s+\\S+:${port}\\s*$`, 'm');
  while (Date.now() < until) {
    await throwIfEnded(child);
    if (banner.test(await child.log())) return;
    await delay(RETRY_MS);
  }
}

async function untilItAnswers(
  child: ServerProcess,
  address: string,
  launch: Launch,
  until: number,
): Promise<string> {
  for (;;) {
    await throwIfEnded(child);
    try {
      const retention = await probeNamespace(
        { address, namespace: launch.namespace },
        launch.retentionSeconds,
      );
      await throwIfEnded(child);
      return retention;
    } catch (error) {
      if (error instanceof LaunchError) throw error;
      if (Date.now() >= until) throw new LaunchError('slow', `it does not answer (${messageOf(error)})`);
    }
    await delay(RETRY_MS);
  }
}

async function throwIfEnded(child: ServerProcess): Promise<void> {
  if (child.isRunning) return;
  const { code, signal } = await child.exited;
  const log = (await child.log()).trim();
  const kind = /address already in use|only one usage of each socket/i.test(log) ? 'port' : 'ended';
  const last = log.split('\n').at(-1)?.slice(0, 300) ?? '';
  throw new LaunchError(kind, `it ended with ${signal ?? `exit code ${code}`}: ${last}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
