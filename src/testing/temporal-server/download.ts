import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { acquireOwnerLock } from '../../files/owner-lock';
import { childEnvironment } from '../child-environment';
import {
  type Environment,
  executableName,
  findOnPath,
  isExecutableFile,
  type ProgressListener,
  TEMPORAL_CLI_PACKAGE,
} from './server-source';
import { testingPackage } from './temporal-packages';

/** Measured: 3 minutes on 2 cores with an empty module cache. A busy machine gets five times that. */
const BUILD_TIMEOUT_MS = 15 * 60_000;
const BUILD_DIR_PREFIX = 'build-';

/** A program that `go install` builds. */
export interface GoProgram {
  /** What people call it. */
  readonly name: string;
  /** Go package with its version. */
  readonly package: string;
  /** File name that Go gives it. */
  readonly built: string;
  /** File name in the cache. */
  readonly file: string;
}

const TEMPORAL_CLI: GoProgram = {
  name: 'the Temporal CLI',
  package: TEMPORAL_CLI_PACKAGE,
  built: executableName(),
  file: executableName(),
};

/**
 * Builds a pinned program, by default the CLI, with the Go toolchain into `cacheDir` and returns its path. The binary is
 * moved there only when it is complete; if several processes call this, one builds and the others wait.
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
  await mkdir(cacheDir, { recursive: true });
  const target = path.join(cacheDir, program.file);
  const lock = await acquireOwnerLock(path.join(cacheDir, 'build.lock'), {
    waitMs: BUILD_TIMEOUT_MS,
    onWait: (pid) => onProgress(`Process ${pid} is building ${program.name} already; waiting for it.`),
  });
  try {
    if (await isExecutableFile(target)) return target;
    await removeAbandonedBuilds(cacheDir);
    onProgress(`Building ${program.name} once with \`go install\` (about 3 minutes) …`);
    const buildDir = await mkdtemp(path.join(cacheDir, BUILD_DIR_PREFIX));
    try {
      await runGo(go, program.package, { ...env, GOBIN: buildDir });
      await rename(path.join(buildDir, program.built), target);
    } finally {
      await rm(buildDir, { recursive: true, force: true });
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

async function runGo(go: string, goPackage: string, env: Environment): Promise<void> {
  const child = spawn(go, ['install', '-ldflags', '-s -w', goPackage], {
    env: childEnvironment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: BUILD_TIMEOUT_MS,
    windowsHide: true,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code === 0) return;
  const last = said.trim().split('\n').at(-1) ?? '';
  throw new Error(code === null ? 'the build was stopped' : `the build failed: ${last}`);
}

/** The SDK has no timeout of its own; a firewall that drops packets must not block the search forever. */
const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;

/**
 * Path of the CLI that the TypeScript SDK downloads for its own version into `cacheDir`; an existing file is reused.
 * The SDK cannot download without starting a server, so the server is stopped afterwards.
 * @throws Error with the reason when the download fails; immediately when its host cannot be reached.
 */
export async function sdkDownload(cacheDir: string): Promise<string> {
  const { TestWorkflowEnvironment } = testingPackage();
  const manifest = await readFile(require.resolve('@temporalio/testing/package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  // The file name that the SDK uses (sdk-core, ephemeral_server).
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const file = path.join(cacheDir, `temporal-sdk-typescript-${version}${suffix}`);
  if (await isExecutableFile(file)) return file;

  await mkdir(cacheDir, { recursive: true });
  const started = TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir: cacheDir, ttl: '3650 days' } },
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
