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
    return failedCheck('node_version', `This is Bun ${bun}; the Temporal SDK runs in Node only.`);
  const wanted = engines.replace(/^>=\s*/, '');
  if (!isOlder(version, wanted)) return ok(`${version.replace(/^v/, '')} (at least ${wanted} is needed)`);
  return failedCheck(
    'node_version',
    `This is Node ${version.replace(/^v/, '')}; at least ${wanted} is needed.`,
  );
}

function enginesOfPackage(): string {
  const file = join(__dirname, '..', '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } }).engines.node;
}

const PACKAGES = ['@temporalio/worker', '@temporalio/client', '@temporalio/workflow', '@temporalio/activity'];

/** Whether everything that throws and reads failures shares one copy of the SDK. */
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

/** Why the worker's native module is missing for this system; undefined when it exists. */
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
      `No worker runs on this system (${system}): the native part of the Temporal SDK cannot be loaded.`,
    );
  }
}

/** Names the packages that load each version, without paths. */
export function checkSdkCopies(copies: readonly SdkCopy[]): Finding {
  const [ours, ...others] = copies;
  if (others.length === 0) return ok(`${ours?.version ?? 'unknown'}, one copy`);
  const named = copies.map(({ by, version }) => `${by} loads ${version}`).join(', ');
  return failedCheck(
    'two_sdk_copies',
    `${copies.length} copies of @temporalio/common are installed: ${named}.`,
  );
}

/**
 * Whether every MEDIA_* variable can be used, and whether address and key are set wherever a worker would need them.
 */
export const settings: DoctorCheck = {
  name: 'settings',
  title: 'Settings',
  after: [],
  limitMs: 1_000,
  late: 'unexpected',
  run: async ({ problems, workerSide, accounts, env }) => {
    if (problems.length > 0) {
      const variables = problems.map(({ variable }) => variable).join(' and ');
      const message = problems.map(({ message: text }) => text).join(' ');
      return failedCheck('configuration', message, `Correct ${variables} where the worker runs.`);
    }
    const [first] = accounts;
    if (!workerSide || first === undefined)
      return ok('neither MEDIA_BASE_URL nor a key is set here; only the machine of the worker needs them');
    return accounts.length === 1 && first.from !== 'MEDIA_ACCOUNTS'
      ? ok(`service from ${first.from}, key from ${keySource(env)}`)
      : ok(
          `${accounts.length} accounts: ${accounts.map(({ name, from }) => `${name} from ${from}`).join(', ')}`,
        );
  },
};

function keySource(env: NodeJS.ProcessEnv): string {
  return env['MEDIA_API_KEY_FILE'] ? 'MEDIA_API_KEY_FILE' : 'MEDIA_API_KEY';
}

const REMEDY =
  'Point MEDIA_ARTIFACTS (default: the folder artifacts in MEDIA_DATA_DIR) to a folder that can be written.';

const OTHER_STORE = 'Correct MEDIA_ARTIFACTS or its store.';

/** Whether results can be stored where a worker runs, and read where only commands run. */
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
      return failedCheck('artifacts/not_writable', 'The artifact store cannot be written.', REMEDY);
    for (const { baseUrl, config: own } of accounts) {
      const unsent = await modelsOf(own)
        .then((models) => outOfReach(store, models, baseUrl))
        .catch(otherwise(undefined));
      if (unsent !== undefined)
        return warning(`Can be written, but references to files cannot be sent to ${unsent}`, OTHER_STORE);
    }
    return ok('can be written');
  },
};

/** Empty if they cannot be read. The check of the models reports that. */
async function modelsOf({ models: location }: MediaConfig): Promise<readonly ModelEntry[]> {
  if (location === undefined) return [];
  return (await createModelSource({ location, timeoutMs: MODELS_MS }).all()) ?? [];
}

const MODELS_MS = 2_000;

/** Machines that run only commands read results. A bucket is requested, because its address alone proves nothing. */
async function clientFinding(store: ArtifactStore, state: FolderState): Promise<Finding> {
  if (state !== 'there')
    return warning(
      'There is no artifact store here: videos can be created, but this machine cannot save their files.',
      'Set MEDIA_DATA_DIR or MEDIA_ARTIFACTS as on the worker, if both can reach one store.',
    );
  if (store.kind === 'file') return ok('exists; the worker must use the same one');
  try {
    await store.list(null, 1);
    return ok('can be read; the worker must use the same one');
  } catch (error) {
    const { message, hint = OTHER_STORE } = toArtifactError(error);
    return warning(`Videos can be created, but this machine cannot save their files: ${message}`, hint);
  }
}

const ON_A_VOLUME =
  'Set MEDIA_JOURNAL to a volume that outlives container and machine, a database or a bucket.';

/** Whether the record of paid sends can be written: without it nothing is sent. */
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
    if (state === 'blocked') return failedCheck('journal_unusable', 'The journal cannot be written.');
    try {
      if (state === 'missing') {
        await inItsPlace(root, async (journal) =>
          (await openJournal({ ...config, journal })).checkWritable(),
        );
      } else {
        const opened = await openJournal(config);
        await opened.checkWritable();
        if (!isFolder) return ok(`can be written (${opened.kind})`);
      }
      const ephemeral = await ephemeralJournal(root);
      if (ephemeral !== undefined) return warning(ephemeral, ON_A_VOLUME);
      return ok(state === 'missing' ? MADE_LATER : 'can be written');
    } catch (error) {
      if (error instanceof ConfigurationError) return failedCheck('configuration', error.message);
      const words = wordsOfStore(error);
      if (words !== undefined)
        return failedCheck('journal_unusable', words, 'Correct MEDIA_JOURNAL or its store.');
      return failedCheck('journal_unusable', `The journal cannot be written (${systemCode(error)}).`);
    }
  },
};

/**
 * - `there`: the folder exists.
 * - `missing`: it can be created: its nearest existing parent is a writable folder.
 * - `blocked`: something else has its name, or permissions are missing.
 */
type FolderState = 'there' | 'missing' | 'blocked';

/** Checks a folder without creating anything. */
export async function folderState(folder: string): Promise<FolderState> {
  const at = await nearest(folder);
  if (at === undefined) return 'blocked';
  if (at === folder) return 'there';
  return access(at, constants.W_OK | constants.X_OK).then(() => 'missing', otherwise('blocked' as const));
}

/** The folder itself or its nearest existing parent; undefined if that is not a folder. */
async function nearest(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(otherwise(undefined));
    if (found === undefined && at !== dirname(at)) continue;
    return found?.isDirectory() === true ? at : undefined;
  }
}

const MADE_LATER = 'can be written; the first worker creates it';

/** Tries in a new folder what a store will do on the same file system, then removes the folder. */
async function inItsPlace(folder: string, check: (root: string) => Promise<void>): Promise<void> {
  const probe = await mkdtemp(join((await nearest(folder)) ?? folder, '.temporal-media-'));
  try {
    await check(probe);
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
