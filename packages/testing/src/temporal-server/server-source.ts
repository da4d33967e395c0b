import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type * as Client from '@temporalio/client';
import type * as Testing from '@temporalio/testing';
import { type AddressSource } from 'temporal-media/internal/client/address-source';

/**
 * Packages that are loaded only when a server is needed, because other tests do not use them and one is optional. Does
 * not use `import()`, because test runners that load this code as CommonJS, such as jest, reject it.
 */
export const clientPackage = (): typeof Client => require('@temporalio/client') as typeof Client;
export const testingPackage = (): typeof Testing => require('@temporalio/testing') as typeof Testing;

/** Which step of the search produced a `temporal` executable (architecture: Temporal server). */
export type ExecutableFinder =
  | 'TEMPORAL_CLI_PATH'
  | 'PATH'
  | 'cache'
  | 'sdk-download'
  | 'pypi'
  | 'go-install';

/** A `temporal` executable that can start a development server. */
export interface ExecutableSource {
  readonly kind: 'executable';
  /** Absolute path. */
  readonly path: string;
  /** The output from `temporal --version`, without the leading words. */
  readonly version: string;
  /** The step of the search that found it. */
  readonly foundBy: ExecutableFinder;
}

/** An existing server, or an executable that can start one (architecture: Temporal server). */
export type TemporalServerSource = AddressSource | ExecutableSource;

/** Environment variables in the format of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Receives one human-readable line without a line break. */
export type ProgressListener = (line: string) => void;

const run = promisify(execFile);
/** A cold start of a 200 MB binary from a slow disk takes seconds. */
const VERSION_TIMEOUT_MS = 20_000;

/**
 * Runs `<file> --version` and returns the version.
 * @throws Error with the reason when the file cannot be run, is not the Temporal CLI, or contains a server that is too
 * old.
 */
export async function cliVersion(file: string): Promise<string> {
  const { stdout } = await run(file, ['--version'], { timeout: VERSION_TIMEOUT_MS, windowsHide: true }).catch(
    (error: unknown) => {
      throw new Error(`it cannot be run (${reasonOf(error)})`);
    },
  );
  const version = /^temporal version (.+)$/m.exec(stdout)?.[1]?.trim();
  if (version === undefined) throw new Error('it is not the Temporal CLI (unexpected --version output)');
  const server = /Server (\d+\.\d+\.\d+)/.exec(version)?.[1];
  if (server !== undefined && isOlder(server, MINIMUM_SERVER_VERSION)) {
    throw new Error(`its server ${server} is older than ${MINIMUM_SERVER_VERSION}`);
  }
  return version;
}

/** Returns the absolute path of the first executable file with this name on PATH, or null. */
export async function findOnPath(
  name: string,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<string | null> {
  for (const dir of (env['PATH'] ?? env['Path'] ?? '').split(path.delimiter)) {
    // Skip empty and relative entries: a file in the current directory must not be run.
    if (!path.isAbsolute(dir)) continue;
    const file = path.join(dir, platform === 'win32' ? `${name}.exe` : name);
    if (await isExecutableFile(file)) return file;
  }
  return null;
}

/** Returns the path of `temporal` on PATH, or null. */
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

/** Returns the cache directory for the `temporal` executable that a search downloaded or built for this CLI version. */
export function cliCacheDir(env: Environment, platform: NodeJS.Platform = process.platform): string {
  return path.join(userCacheDir(env, platform), 'temporal-media', 'cli', TEMPORAL_CLI_VERSION);
}

/** Returns the executable's file name on this platform. */
export function executableName(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? 'temporal.exe' : 'temporal';
}

function userCacheDir(env: Environment, platform: NodeJS.Platform): string {
  // The XDG specification says that a relative path must be ignored.
  const xdg = env['XDG_CACHE_HOME'];
  if (xdg && path.isAbsolute(xdg)) return xdg;
  const local = env['LOCALAPPDATA'];
  if (platform === 'win32' && local) return local;
  return path.join(env['HOME'] || homedir(), '.cache');
}

/** The tag of the CLI that is downloaded and cached. */
export const TEMPORAL_CLI_VERSION = 'v1.9.1';

/**
 * Go package of the CLI, the last resort: the newest version that can be built from a module proxy. Later versions need
 * a nested module that no proxy serves.
 */
export const TEMPORAL_CLI_PACKAGE = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';

/** Oldest server version in which update-with-start is enabled by default. */
const MINIMUM_SERVER_VERSION = '1.28.0';

/** A search step that found nothing. */
export interface FailedStep {
  /** What was searched, for example `temporal on PATH`. */
  readonly step: string;
  /** Why it found nothing. */
  readonly reason: string;
  /** What the user can do to make this step succeed. */
  readonly remedy: string;
}

/**
 * Thrown if no Temporal server was found. The message lists each step's reason and remedy (architecture: Temporal
 * server).
 */
export class TemporalServerNotFoundError extends Error {
  override readonly name = 'TemporalServerNotFoundError';

  constructor(
    /** All steps tried, in order. */
    readonly steps: readonly FailedStep[],
  ) {
    super(
      [
        'No Temporal server could be found or started. Tried, in this order:',
        ...steps.map(
          ({ step, reason, remedy }, i) => `  ${i + 1}. ${step}: ${reason}.\n     Remedy: ${remedy}.`,
        ),
      ].join('\n'),
    );
  }
}
