import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startTemporalServer,
  type RunningTemporalServer,
} from '../../../packages/testing/src/temporal-server';

/** A Temporal server with its database in a file, that can be killed and started again on it. */
export interface KillableServer {
  readonly address: string;
  readonly namespace: string;
  /** SIGKILL, and a new server on the same file and port. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startKillableServer(): Promise<KillableServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'temporal-media-killed-'));
  // A server that the environment names is not ours to kill.
  const env = { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_PROFILE: undefined };
  const start = (port?: number): Promise<RunningTemporalServer> =>
    startTemporalServer({ env, dataDir, namespace: 'default', ...(port !== undefined && { port }) });
  let running = await start();
  const { address, namespace } = running;
  return {
    address,
    namespace,
    killAndRestart: async () => {
      if (running.pid === undefined) throw new Error('A server without a process');
      process.kill(running.pid, 'SIGKILL');
      await running.exited;
      await running.stop();
      running = await start(Number(address.split(':')[1]));
    },
    stop: async () => {
      await running.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
