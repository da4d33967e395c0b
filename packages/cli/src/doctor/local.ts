import { constants, readFileSync } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type ModelEntry } from 'temporal-media';
import { outOfReach } from 'temporal-media/internal/activities/sources';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { sdkCopies, sdkCopiesWithApplication, type SdkCopy } from 'temporal-media/internal/installation';
import { ConfigurationError, floatingJournal } from 'temporal-media/internal/settings/config';
import { createModelSource } from 'temporal-media/internal/settings/model-source';
import { toArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import { wordsOfStore } from 'temporal-media/internal/stores/journal/records';
import {
  ephemeralJournal,
  openArtifactStore,
  openJournal,
  schemeOf,
} from 'temporal-media/internal/stores/open-stores';
import { isOlder } from 'temporal-media/internal/worker/temporal-server-version';
import { type ArtifactStore } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';
import { type CommandErrorType } from '../shared/exit-codes';
import { type DoctorCheck, failedCheck, type Finding, ok, warning } from './check';

/** Whether this process runs on a Node version that the package supports. */
export const nodeVersion: DoctorCheck = {
  name: 'node',
  title: 'Node',
  after: [],
  limitMs: 1_000,
  late: 'unexpected',
  run: async () => checkNodeVersion(process.version, enginesOfPackage(), process.versions['bun']),
};

/**
 * @param engines `>=MAJOR.MINOR.PATCH`, as in package.json
 * @param bun the version of Bun, which also reports a Node version
 */
export function checkNodeVersion(version: string, engines: string, bun?: string): Finding {
  if (bun !== undefined)
    return failedCheck('node_version', `This is Bun ${bun}, but the Temporal SDK runs only on Node.`);
  const wanted = engines.replace(/^>=\s*/, '');
  if (!isOlder(version, wanted)) return ok(`${version.replace(/^v/, '')} (${wanted} or later is required)`);
  return failedCheck(
    'node_version',
    `This is Node ${version.replace(/^v/, '')}, but ${wanted} or later is required.`,
  );
}

function enginesOfPackage(): string {
  const file = join(__dirname, '..', '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } }).engines.node;
}

const PACKAGES = ['@temporalio/worker', '@temporalio/client', '@temporalio/workflow', '@temporalio/activity'];

/** Whether all code that throws or reads Temporal failures shares one copy of the SDK. */
export const oneSdk: DoctorCheck = {
  name: 'sdk',
  title: 'Temporal SDK',
  after: [],
  limitMs: 3_000,
  late: 'unexpected',
  run: async ({ cwd, workerSide }) => {
    const copies = checkSdkCopies(sdkCopiesWithApplication(cwd, sdkCopies(PACKAGES)));
    return copies.state === 'ok' && workerSide ? (checkNativePart() ?? copies) : copies;
  },
};

/** Returns a failure if the worker's native module cannot be loaded on this system, or undefined if it can. */
export function checkNativePart(
  load: () => unknown = () => createRequire(__filename)('@temporalio/worker'),
): Finding | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    throwBug(error);
    const { report } = process as { report?: { getReport(): { header?: { glibcVersionRuntime?: string } } } };
    const isMusl =
      process.platform === 'linux' && report?.getReport().header?.glibcVersionRuntime === undefined;
    const system = `${process.platform} ${process.arch}${isMusl ? ' with musl' : ''}`;
    return failedCheck(
      'native_part_missing',
      `Workers cannot run on this system (${system}): the Temporal SDK's native module cannot be loaded.`,
    );
  }
}

/** Names the packages that load each SDK version, without their paths. */
export function checkSdkCopies(copies: readonly SdkCopy[]): Finding {
  const [ours, ...others] = copies;
  if (others.length === 0) return ok(`${ours?.version ?? 'unknown'}, one copy`);
  const named = copies.map(({ by, version }) => `${by} loads ${version}`).join(', ');
  return failedCheck(
    'two_sdk_copies',
    `${copies.length} copies of @temporalio/common are installed: ${named}.`,
  );
}

/** Whether every MEDIA_* variable is valid, and whether the base URL and the key are set where a worker needs them. */
export const settings: DoctorCheck = {
  name: 'settings',
  title: 'Settings',
  after: [],
  limitMs: 3_000,
  late: 'unexpected',
  run: async ({ problems, workerSide, accounts, env }) => {
    if (problems.length > 0) {
      const variables = problems.map(({ variable }) => variable).join(' and ');
      const message = problems.map(({ message: text }) => text).join(' ');
      return failedCheck('configuration', message, `Fix ${variables} where the worker runs.`);
    }
    // They are not needed to create videos.
    const notify = env['MEDIA_NOTIFY'] ? await notifyProblem(env) : undefined;
    if (notify !== undefined) return warning(notify, 'Until then, workers send no notices.');
    const [first] = accounts;
    if (!workerSide || first === undefined)
      return ok("neither MEDIA_BASE_URL nor a key is set here; only the worker's machine needs them");
    return accounts.length === 1 && first.from !== 'MEDIA_ACCOUNTS'
      ? ok(`service from ${first.from}, key from ${keySource(env)}`)
      : ok(
          `${accounts.length} accounts: ${accounts.map(({ name, from }) => `${name} from ${from}`).join(', ')}`,
        );
  },
};

async function notifyProblem(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { endpointProblems } = await import('@temporal-media/notices');
  return (await endpointProblems(env))[0];
}

function keySource(env: NodeJS.ProcessEnv): string {
  return env['MEDIA_API_KEY_FILE'] ? 'MEDIA_API_KEY_FILE' : 'MEDIA_API_KEY';
}

const REMEDY = 'Set MEDIA_ARTIFACTS (default: the folder artifacts in MEDIA_DATA_DIR) to a writable folder.';

const OTHER_STORE = 'Fix MEDIA_ARTIFACTS or the store.';

/** Whether a worker on this machine can store results, or commands on this machine can read them. */
export const artifacts: DoctorCheck = {
  name: 'artifacts',
  title: 'Artifact store',
  after: [],
  limitMs: 5_000,
  late: 'artifacts/storage',
  run: async ({ config, workerSide, accounts }) => {
    const store = await openArtifactStore(config);
    const state = store.kind === 'file' ? await folderState(config.artifacts) : 'there';
    if (!workerSide) return clientFinding(store, state);
    try {
      if (state === 'there') await store.checkWritable();
      if (state === 'missing')
        await inItsPlace(config.artifacts, async (folder) =>
          (await openArtifactStore({ ...config, artifacts: folder })).checkWritable(),
        );
    } catch (error) {
      const { code, message, hint = OTHER_STORE } = toArtifactError(error);
      const remedy = store.kind === 'file' ? REMEDY : hint;
      return failedCheck(`artifacts/${code}` as CommandErrorType, message, remedy);
    }
    if (state === 'missing') return ok(MADE_LATER);
    if (state !== 'there')
      return failedCheck('artifacts/not_writable', 'The artifact store is not writable.', REMEDY);
    for (const { baseUrl, config: own } of accounts) {
      const unsent = await modelsOf(own)
        .then((models) => outOfReach(store, models, baseUrl))
        .catch(otherwise(undefined));
      if (unsent !== undefined)
        return warning(`Writable, but file references cannot be sent to ${unsent}`, OTHER_STORE);
    }
    return ok('is writable');
  },
};

/** Returns the configured models. Empty if they cannot be read, which the models check reports. */
async function modelsOf({ models: location }: MediaConfig): Promise<readonly ModelEntry[]> {
  if (location === undefined) return [];
  return (await createModelSource({ location, timeoutMs: MODELS_MS }).all()) ?? [];
}

const MODELS_MS = 2_000;

/**
 * Checks a machine that only reads results. Sends a request to a bucket, because the bucket's URL alone does not prove
 * that it can be read.
 */
async function clientFinding(store: ArtifactStore, state: FolderState): Promise<Finding> {
  if (state !== 'there')
    return warning(
      'There is no artifact store here. Videos can be created, but this machine cannot save their files.',
      "If both machines can reach the same store, set MEDIA_DATA_DIR or MEDIA_ARTIFACTS to the worker's value.",
    );
  if (store.kind === 'file') return ok('exists; the worker must use the same store');
  try {
    await store.list(null, 1);
    return ok('is readable; the worker must use the same store');
  } catch (error) {
    const { message, hint = OTHER_STORE } = toArtifactError(error);
    return warning(`Videos can be created, but this machine cannot save their files: ${message}`, hint);
  }
}

const ON_A_VOLUME =
  'Set MEDIA_JOURNAL to a volume that outlives the container and the machine, to a database or to a bucket.';

/** Whether the journal is writable. Without it, nothing is sent. */
export const journal: DoctorCheck = {
  name: 'journal',
  title: 'Journal',
  after: [],
  workerSide: true,
  limitMs: 5_000,
  late: 'journal_unusable',
  run: async ({ config, dev }) => {
    // A running `dev` passes its own folder to its worker.
    const floats = dev === undefined ? floatingJournal(config) : undefined;
    if (floats !== undefined) return failedCheck('configuration', floats.message);
    const root = config.journal;
    const isFolder = schemeOf(root) === undefined;
    const state = isFolder ? await folderState(root) : 'there';
    if (state === 'blocked') return failedCheck('journal_unusable', 'The journal is not writable.');
    try {
      if (state === 'missing') {
        await inItsPlace(root, async (journal) =>
          (await openJournal({ ...config, journal })).checkWritable(),
        );
      } else {
        const opened = await openJournal(config);
        await opened.checkWritable();
        if (!isFolder) return ok(`is writable (${opened.kind})`);
      }
      const ephemeral = await ephemeralJournal(root);
      if (ephemeral !== undefined) return warning(ephemeral, ON_A_VOLUME);
      return ok(state === 'missing' ? MADE_LATER : 'is writable');
    } catch (error) {
      if (error instanceof ConfigurationError) return failedCheck('configuration', error.message);
      const words = wordsOfStore(error);
      if (words !== undefined)
        return failedCheck('journal_unusable', words, 'Fix MEDIA_JOURNAL or the store.');
      return failedCheck('journal_unusable', `The journal is not writable (${systemCode(error)}).`);
    }
  },
};

/**
 * - `there`: the folder exists.
 * - `missing`: it can be created, because its nearest existing parent is a writable folder.
 * - `blocked`: a file with the same name exists, or permissions are missing.
 */
type FolderState = 'there' | 'missing' | 'blocked';

/** Checks a folder without creating anything. */
export async function folderState(folder: string): Promise<FolderState> {
  const at = await nearest(folder);
  if (at === undefined) return 'blocked';
  if (at === folder) return 'there';
  return access(at, constants.W_OK | constants.X_OK).then(() => 'missing', otherwise('blocked' as const));
}

/** Returns the folder or its nearest existing parent, or undefined if that is not a folder. */
async function nearest(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(otherwise(undefined));
    if (found === undefined && at !== dirname(at)) continue;
    return found?.isDirectory() === true ? at : undefined;
  }
}

const MADE_LATER = 'is writable; the first worker creates it';

/** Runs a store's check in a temporary folder on the same file system. */
async function inItsPlace(folder: string, check: (root: string) => Promise<void>): Promise<void> {
  const probe = await mkdtemp(join((await nearest(folder)) ?? folder, '.temporal-media-'));
  try {
    await check(probe);
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
