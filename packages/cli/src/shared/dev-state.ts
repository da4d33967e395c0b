import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type RunningTemporalServer } from '@temporal-media/testing';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { childEnvironment, isPortFree, runs } from 'temporal-media/internal/stores/files/this-machine';
import { type RunningChild, startChild } from './child-process';
import { CliError } from './errors';

/** The state that `dev` publishes for other commands in the data directory's `dev.json`. Never contains a key. */
export interface DevState {
  readonly v: 1;
  readonly pid: number;
  /** Distinguishes this process from a later one with the same pid. */
  readonly identity: string | null;
  readonly startedAt: string;
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | null;
  readonly retention: string;
  readonly taskQueue: string;
  readonly sandbox: DevSandbox | null;
  readonly pids: { readonly server?: number; readonly sandbox?: number; readonly worker?: number };
}

export interface DevSandbox {
  readonly url: string;
  readonly mediaUrl: string;
  readonly modelsUrl: string;
  readonly adminUrl: string;
}

/**
 * Ports for the next start to reuse, because a task's account contains a digest of the base URL (architecture:
 * Requests).
 */
export interface DevPorts {
  readonly temporal?: number;
  readonly ui?: number;
  readonly sandbox?: number;
  readonly media?: number;
}

const stateFile = (dataDir: string): string => join(dataDir, 'dev.json');
const portsFile = (dataDir: string): string => join(dataDir, 'dev-ports.json');

/** Reads the state of the `dev` that runs with this data directory. Undefined if none is running. */
export async function readDevState(dataDir: string): Promise<DevState | undefined> {
  const state = (await readJson(stateFile(dataDir))) as Partial<DevState> | undefined;
  if (state?.v !== 1 || typeof state.pid !== 'number' || typeof state.address !== 'string') return undefined;
  return (await runs({ pid: state.pid, identity: state.identity ?? null })) ? (state as DevState) : undefined;
}

export async function writeDevState(dataDir: string, state: DevState): Promise<void> {
  await writeJson(stateFile(dataDir), state);
}

export async function removeDevState(dataDir: string): Promise<void> {
  await rm(stateFile(dataDir), { force: true });
}

export async function readDevPorts(dataDir: string): Promise<DevPorts> {
  const ports = await readJson(portsFile(dataDir));
  const entries = Object.entries(typeof ports === 'object' && ports !== null ? ports : {});
  return Object.fromEntries(
    entries.filter(([, port]) => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536),
  );
}

export async function writeDevPorts(dataDir: string, ports: DevPorts): Promise<void> {
  await writeJson(portsFile(dataDir), ports);
}

/** Reads a JSON file. Undefined if it is missing or broken. */
async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown;
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** Replaces the file atomically, so a reader sees either the old content or the new. */
async function writeJson(file: string, content: object): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** The local sandbox's key. It does not give access to anything else. */
export const SANDBOX_KEY = 'sandbox-key';

/** Maximum time, in milliseconds, for a sandbox that was killed with its `dev` to release its ports. */
const PORT_WAIT_MS = 15_000;

interface StartDevSandboxOptions {
  readonly dataDir: string;
  readonly ports: DevPorts;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Starts the `dev` sandbox in its own process, on the last run's ports. A different port would mean a different
 * account, which could not access earlier tasks. @throws CliError when a port is taken
 */
export async function startDevSandbox({
  dataDir,
  ports,
  env,
}: StartDevSandboxOptions): Promise<RunningChild<DevSandbox>> {
  for (const port of [ports.sandbox, ports.media]) if (port !== undefined) await untilFree(port);
  const directory = join(dataDir, 'sandbox');
  await mkdir(directory, { recursive: true });
  const args = ['sandbox', '--json', '--data-dir', directory, '--key', SANDBOX_KEY];
  if (ports.sandbox !== undefined) args.push('--port', String(ports.sandbox));
  if (ports.media !== undefined) args.push('--media-port', String(ports.media));
  return startChild<DevSandbox>(args, {
    // The user's proxies are meant for another service.
    env: childEnvironment(env, /_proxy$/i),
    logFile: join(dataDir, 'logs', 'sandbox.log'),
  });
}

async function untilFree(port: number): Promise<void> {
  const until = performance.now() + PORT_WAIT_MS;
  while (!(await isPortFree(port))) {
    if (performance.now() > until) {
      const message = `Port ${port} on 127.0.0.1, which this data directory's sandbox last used, is taken.`;
      throw new CliError('port_in_use', message, {
        hint: 'Stop the process that is listening there, use another MEDIA_DATA_DIR, or delete dev-ports.json in the data directory. If you delete it, earlier tasks can no longer be accessed.',
      });
    }
    await delay(200);
  }
}

/** Returns the variables that a worker needs to use this sandbox. Values set by the user take precedence. */
export function sandboxEnvironment(sandbox: DevSandbox, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const hasKey = Boolean(env['MEDIA_API_KEY'] || env['MEDIA_API_KEY_FILE']);
  return {
    MEDIA_BASE_URL: sandbox.url,
    MEDIA_MODELS: env['MEDIA_MODELS'] || sandbox.modelsUrl,
    MEDIA_ALLOWED_MEDIA_ORIGINS: env['MEDIA_ALLOWED_MEDIA_ORIGINS'] || new URL(sandbox.mediaUrl).origin,
    ...(!hasKey && { MEDIA_API_KEY: SANDBOX_KEY }),
  };
}

/**
 * Returns the environment for a child worker to find this server. For a server that was started here, drops the user's
 * TEMPORAL_* variables and default profile, because their TLS settings and keys belong to another server.
 */
export function temporalEnvironment(
  server: RunningTemporalServer,
  env: NodeJS.ProcessEnv,
  dataDir: string,
): NodeJS.ProcessEnv {
  if (!server.startedByUs) return { ...env };
  const others = Object.entries(env).filter(
    ([name]) => !name.startsWith('TEMPORAL_') || name.startsWith('TEMPORAL_MEDIA_'),
  );
  return {
    ...Object.fromEntries(others),
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    // Points to a file that does not exist, because an empty file would be an error.
    TEMPORAL_CONFIG_FILE: join(dataDir, 'temporal-profiles.toml'),
  };
}
