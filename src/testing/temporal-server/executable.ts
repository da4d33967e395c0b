import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { MINIMUM_SERVER_VERSION } from './cli-version';
import { executableName } from './cache-dir';
import { type Environment } from './source';

const run = promisify(execFile);
/** A cold start of a 200 MB binary from a slow disk takes seconds. */
const VERSION_TIMEOUT_MS = 20_000;

/**
 * Runs `<file> --version` and returns what it says.
 * @throws Error with the reason when the file cannot be run, is no Temporal CLI, or carries a server that is too old.
 */
export async function cliVersion(file: string): Promise<string> {
  const { stdout } = await run(file, ['--version'], { timeout: VERSION_TIMEOUT_MS, windowsHide: true }).catch(
    (error: unknown) => {
      throw new Error(`it cannot be run (${reasonOf(error)})`);
    },
  );
  const version = /^temporal version (.+)$/m.exec(stdout)?.[1]?.trim();
  if (version === undefined)
    throw new Error('it is not the Temporal CLI (its --version says something else)');
  const server = /Server (\d+\.\d+\.\d+)/.exec(version)?.[1];
  if (server !== undefined && isOlder(server, MINIMUM_SERVER_VERSION)) {
    throw new Error(`its server ${server} is older than ${MINIMUM_SERVER_VERSION}`);
  }
  return version;
}

/** Absolute path of the first `temporal` on PATH that may be executed, or null. */
export async function findOnPath(
  name: string,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<string | null> {
  for (const dir of (env['PATH'] ?? env['Path'] ?? '').split(path.delimiter)) {
    // An empty or relative entry means "here": whatever lies in the current folder is not to be run.
    if (!path.isAbsolute(dir)) continue;
    const file = path.join(dir, platform === 'win32' ? `${name}.exe` : name);
    if (await isExecutableFile(file)) return file;
  }
  return null;
}

/** Path of the `temporal` on PATH, or null. */
export function findTemporalOnPath(env: Environment): Promise<string | null> {
  return findOnPath(path.parse(executableName()).name, env);
}

/** Whether the path is a file that this user may execute. */
export async function isExecutableFile(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

function reasonOf(error: unknown): string {
  const { code, killed } = error as { code?: string | number | null; killed?: boolean };
  if (killed === true) return `no answer within ${VERSION_TIMEOUT_MS / 1000} s`;
  return typeof code === 'number' ? `exit code ${code}` : String(code ?? 'unknown reason');
}

function isOlder(version: string, minimum: string): boolean {
  const [left, right] = [version, minimum].map((text) => text.split('.').map(Number));
  for (let i = 0; i < 3; i += 1) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
