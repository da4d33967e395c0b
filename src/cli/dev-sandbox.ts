import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isPortFree } from '../testing/temporal-server/process';
import { type RunningChild, startChild } from './child-process';
import { CliError } from './cli-error';
import { type DevPorts, type DevSandbox } from './dev-state';

/** The key of a local sandbox: it opens nothing but that. */
export const SANDBOX_KEY = 'sandbox-key';

/** A sandbox that was killed with its `dev` needs a moment to let go of its ports. */
const PORT_WAIT_MS = 15_000;

export interface StartDevSandboxOptions {
  readonly dataDir: string;
  readonly ports: DevPorts;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Starts the sandbox of `dev` in its own process, on the ports of last time: another port would be another account,
 * and every task of before would be out of reach. @throws CliError when such a port is taken
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
    env: withoutSecrets(env),
    logFile: join(dataDir, 'logs', 'sandbox.log'),
  });
}

/** Key, addresses and proxies of the user are for another service; a sandbox has its own key (C5.4a, C5.4b). */
function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^MEDIA_|_proxy$/i.test(name)));
}

async function untilFree(port: number): Promise<void> {
  const until = Date.now() + PORT_WAIT_MS;
  while (!(await isPortFree(port))) {
    if (Date.now() > until) {
      const message = `Port ${port} of 127.0.0.1, which the sandbox of this data directory used before, is taken.`;
      throw new CliError('port_in_use', message, {
        hint: 'Stop what listens there, use another MEDIA_DATA_DIR, or delete dev-ports.json in the data directory: tasks of before are then out of reach.',
      });
    }
    await delay(200);
  }
}

/** What a worker needs to use this sandbox; what the user has set himself wins. */
export function sandboxEnvironment(sandbox: DevSandbox, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const hasKey = Boolean(env['MEDIA_API_KEY'] || env['MEDIA_API_KEY_FILE']);
  return {
    MEDIA_BASE_URL: sandbox.url,
    MEDIA_MODELS: env['MEDIA_MODELS'] || sandbox.modelsUrl,
    MEDIA_ALLOWED_MEDIA_ORIGINS: env['MEDIA_ALLOWED_MEDIA_ORIGINS'] || new URL(sandbox.mediaUrl).origin,
    ...(!hasKey && { MEDIA_API_KEY: SANDBOX_KEY }),
  };
}
