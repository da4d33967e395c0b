import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { acquireOwnerLock } from 'temporal-media/internal/files/owner-lock';
import { childEnvironment } from 'temporal-media/internal/files/this-machine';
import {
  type Environment,
  executableName,
  findOnPath,
  isExecutableFile,
  type ProgressListener,
  TEMPORAL_CLI_PACKAGE,
  TEMPORAL_CLI_VERSION,
} from './server-source';
import { testingPackage } from './temporal-packages';

/** Measured: 3 minutes on 2 idle cores with an empty module cache. A busy machine gets five times that. */
const BUILD_TIMEOUT_MS = 15 * 60_000;
const BUILD_DIR_PREFIX = 'build-';

/** A program that is brought into the cache. */
export interface CachedProgram {
  /** What people call it. */
  readonly name: string;
  /** File name in the cache. */
  readonly file: string;
}

/** A program that `go install` builds. */
export interface GoProgram extends CachedProgram {
  /** Go package with its version. */
  readonly package: string;
  /** File name that Go gives it. */
  readonly built: string;
}

/** The Temporal CLI in the cache. */
export const CACHED_CLI: CachedProgram = { name: 'the Temporal CLI', file: executableName() };

const TEMPORAL_CLI: GoProgram = { ...CACHED_CLI, package: TEMPORAL_CLI_PACKAGE, built: executableName() };

/**
 * Builds a pinned program, by default the CLI, with the Go toolchain into `cacheDir` and returns its path.
 * @throws Error with the reason when `go` is missing or the build fails.
 */
export async function goInstall(
  cacheDir: string,
  env: Environment,
  onProgress: ProgressListener,
  program: GoProgram = TEMPORAL_CLI,
): Promise<string> {
  const go = await findOnPath('go', env);
  if (go === null) throw new Error('there is no Go toolchain (`go`) on PATH');
  return intoCache(cacheDir, program, onProgress, async (dir) => {
    onProgress(`Building ${program.name} once with \`go install\` (4 to 10 minutes) …`);
    await runTool(go, ['install', '-ldflags', '-s -w', program.package], {
      env: { ...env, GOBIN: dir },
      cwd: dir,
      timeoutMs: BUILD_TIMEOUT_MS,
    });
    return path.join(dir, program.built);
  });
}

/**
 * Path of a program in `cacheDir`. `make` brings it into an empty directory and returns its path there; it is moved into
 * the cache only when it is complete. If several processes call this, one works and the others wait.
 */
export async function intoCache(
  cacheDir: string,
  program: CachedProgram,
  onProgress: ProgressListener,
  make: (dir: string) => Promise<string>,
): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  const target = path.join(cacheDir, program.file);
  const lock = await acquireOwnerLock(path.join(cacheDir, 'build.lock'), {
    waitMs: BUILD_TIMEOUT_MS,
    onWait: (pid) => onProgress(`Process ${pid} is installing ${program.name} already; waiting for it.`),
  });
  try {
    if (await isExecutableFile(target)) return target;
    await removeAbandonedBuilds(cacheDir);
    const dir = await mkdtemp(path.join(cacheDir, BUILD_DIR_PREFIX));
    try {
      await rename(await make(dir), target);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
    return target;
  } finally {
    await lock.release();
  }
}

/** Call only with the lock held: the processes that created these directories have ended. */
async function removeAbandonedBuilds(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith(BUILD_DIR_PREFIX)) continue;
    await rm(path.join(cacheDir, name), { recursive: true, force: true });
  }
}

/**
 * Runs a tool of the machine to its end.
 * @throws Error with its first line that reports an error, else its last line.
 */
export async function runTool(
  file: string,
  args: readonly string[],
  options: { readonly env: Environment; readonly cwd: string; readonly timeoutMs: number },
): Promise<void> {
  const child = spawn(file, args, {
    env: childEnvironment(options.env),
    cwd: options.cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: options.timeoutMs,
    windowsHide: true,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code === 0) return;
  if (code === null) throw new Error('it was stopped, or took too long');
  const lines = said.trim().split('\n');
  const line = lines.find((text) => /^error/i.test(text)) ?? lines.at(-1) ?? '';
  // An address of a registry may contain its password.
  throw new Error(`it failed: ${shorten(line.replaceAll(/\b\w{1,20}:\/\/\S+/g, '(address)'))}`);
}

/** The tools have no timeout of their own; a firewall that drops packets must not block the search. */
export const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;

/**
 * Path of the pinned CLI that the TypeScript SDK downloads into `cacheDir`; an existing file is reused.
 * The SDK cannot download without starting a server, so the server is stopped afterwards.
 * @throws Error with the reason when the download fails; immediately when its host cannot be reached.
 */
export async function sdkDownload(cacheDir: string): Promise<string> {
  const { TestWorkflowEnvironment } = testingPackage();
  // The file name that the SDK uses (sdk-core, ephemeral_server).
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const file = path.join(cacheDir, `temporal-${TEMPORAL_CLI_VERSION}${suffix}`);
  if (await isExecutableFile(file)) return file;

  await mkdir(cacheDir, { recursive: true });
  const started = TestWorkflowEnvironment.createLocal({
    server: {
      executable: {
        type: 'cached-download',
        version: TEMPORAL_CLI_VERSION,
        downloadDir: cacheDir,
        ttl: '3650 days',
      },
    },
  });
  const limit = new AbortController();
  const outcome = await Promise.race([
    started.then(
      (environment) => environment.teardown(),
      // The server may be too slow to start after the download; only the file counts.
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    ),
    delay(DOWNLOAD_TIMEOUT_MS, new Error(`not finished within ${DOWNLOAD_TIMEOUT_MS / 60_000} minutes`), {
      signal: limit.signal,
      ref: false,
    }),
  ]).finally(() => limit.abort());
  if (await isExecutableFile(file)) return file;
  throw outcome instanceof Error
    ? new Error(shorten(outcome.message))
    : new Error('the SDK put its download somewhere else');
}

function shorten(message: string): string {
  return message.length > 160 ? `${message.slice(0, 160)}…` : message;
}
