import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Context } from '@temporalio/activity';
import { type CampaignPlan, type PlanCampaignInput } from '../../domain/campaign/plan';
import { rowCreationKey } from '../../domain/creation-key';
import { type CheckBinding, type CreateJournal, keepsNothing } from '../../domain/journal';
import { given } from '../../domain/json';
import { type ArtifactRef, type MediaSource } from '../../domain/request';
import { ManifestUnreadableError } from '../../manifest/manifest-text';
import { planManifest, type PlanProgress } from '../../manifest/plan-manifest';
import { ModelsDownError } from '../../manifest/row-lookups';
import { type Unaddressable } from '../../manifest/validate-rows';
import { type MediaClient } from '../../service/media-client';
import { type Account, accountNamed, type AccountRegistry } from '../../settings/accounts';
import { type ModelSource } from '../../settings/model-source';
import { ArtifactError, type ArtifactStore } from '../../stores/artifacts/artifact-store';
import { ingestFile } from '../../stores/artifacts/user-files';
import { systemCode } from '../../stores/files/system-errors';
import { retryLater, retryOnAnotherWorker } from '../failures';
import { startHeartbeat } from '../heartbeat';
import { fingerprintOf } from '../intent';
import { caller } from '../paid-context';
import { realInputFile, signedAddress } from '../sources';
import { startedBefore, isFirstText } from './open-page';

interface ManifestBytesDeps {
  readonly artifacts: ArtifactStore;
  /** Folders from which a manifest may be read. */
  readonly inputRoots: readonly string[];
  /** The client of the campaign's account. It filters the addresses that the worker may connect to. */
  readonly client: MediaClient | undefined;
  readonly signal: AbortSignal;
}

/**
 * Returns a function that reads a manifest's bytes any number of times. A URL is fetched only once, through the same
 * address filter as downloads, and stored as an artifact. The plan is therefore made from the bytes that were
 * validated.
 * @throws ManifestUnreadableError if a retry would not help; otherwise a retryable failure
 */
function manifestBytes(
  source: MediaSource,
  deps: ManifestBytesDeps,
): () => Promise<AsyncIterable<Uint8Array>> {
  if ('file' in source) return () => readFile(source.file, deps.inputRoots);
  let fetched: Promise<{ readonly sha256: string }> | undefined;
  return async () => {
    fetched ??= 'artifact' in source ? Promise.resolve(source.artifact) : fetchManifest(source.url, deps);
    return readArtifact(await fetched, deps.artifacts);
  };
}

async function readArtifact(
  artifact: { readonly sha256: string },
  artifacts: ArtifactStore,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    return (await artifacts.read(artifact)) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!(error instanceof ArtifactError) || error.code !== 'not_found') throw error;
    throw new ManifestUnreadableError(
      "The manifest is not in this worker's store. Store it in the artifact store that the worker uses (MEDIA_ARTIFACTS).",
    );
  }
}

async function readFile(path: string, roots: readonly string[]): Promise<AsyncIterable<Uint8Array>> {
  const real = await realInputFile(path, roots);
  if (real === undefined)
    throw new ManifestUnreadableError(
      'The worker reads files only from its MEDIA_INPUT_ROOTS, and this manifest is not in any of them.',
    );
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer indefinitely.
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle.createReadStream() as AsyncIterable<Uint8Array>;
    await handle.close();
  } catch (error) {
    throw new ManifestUnreadableError(`The manifest cannot be read (${systemCode(error)}).`);
  }
  throw new ManifestUnreadableError('The manifest is not a regular file.');
}

async function fetchManifest(
  url: string,
  { client, artifacts, signal }: ManifestBytesDeps,
): Promise<{ readonly sha256: string }> {
  if (client === undefined)
    throw new ManifestUnreadableError(
      'The worker has no credential with the name specified in the campaign.',
    );
  if (!URL.canParse(url)) throw new ManifestUnreadableError("The manifest's URL is not valid.");
  const result = await client.fetchContent({ url: new URL(url), signal });
  switch (result.kind) {
    case 'blocked':
      throw new ManifestUnreadableError(`The manifest's URL is blocked (${result.reason}).`);
    case 'network':
      if (result.retryable)
        throw notNow(`The manifest cannot be fetched right now (${result.code}). The worker will retry.`);
      throw new ManifestUnreadableError(`The manifest cannot be fetched (${result.code}).`);
    case 'refused': {
      const { status, retryAfterMs } = result;
      if (status === 408 || status === 429 || status >= 500)
        throw notNow(`The manifest's URL returned HTTP ${status}.`, status, retryAfterMs);
      throw new ManifestUnreadableError(`The manifest's URL returned HTTP ${status}.`);
    }
    case 'body':
      break;
  }
  if (result.contentEncoding !== null) {
    result.body.destroy();
    throw new ManifestUnreadableError(
      "The manifest's URL returned compressed content, although compression was not requested.",
    );
  }
  try {
    return await artifacts.putStream(result.body as AsyncIterable<Uint8Array>, {
      mediaType: 'application/octet-stream',
    });
  } catch (error) {
    if (error instanceof ArtifactError) throw error;
    throw notNow(`The connection was lost while the manifest was being read (${systemCode(error)}).`);
  }
}

function notNow(message: string, httpStatus?: number, retryAfterMs?: number) {
  return retryLater({
    class: 'manifest_unavailable',
    message,
    httpStatus,
    delayMs: retryAfterMs,
    retryAfterMs,
  });
}

export interface PlanCampaignDeps {
  readonly accounts: AccountRegistry;
  readonly artifacts: ArtifactStore;
  readonly models: ModelSource;
  readonly inputRoots: readonly string[];
  readonly journal: CreateJournal;
  readonly checkBinding: CheckBinding;
  readonly createsPerSecond?: number | undefined;
}

/**
 * Returns the accounts of the queue's other workers. A row for such an account is valid, and one of those workers buys
 * it. Returns undefined if the queue binding cannot be read.
 */
async function othersOf({
  journal,
  checkBinding,
}: PlanCampaignDeps): Promise<readonly { readonly name: string }[] | undefined> {
  if (keepsNothing(journal)) return [];
  const binding = await checkBinding();
  return binding.bound ? (binding.accounts ?? []).map((name) => ({ name })) : undefined;
}

/** Checks once per account whether the store can sign URLs for it. All of the store's URLs have the same origin. */
function unaddressable(
  artifacts: ArtifactStore,
  accountOf: (name: string | undefined) => Account | undefined,
): Unaddressable {
  const known = new Map<string, Promise<string | undefined>>();
  return async (artifact, name) => {
    const account = accountOf(name);
    if (account === undefined) return undefined;
    const found =
      known.get(account.name) ??
      signedAddress(artifacts, artifact, PROBE_MS, account.client.baseUrl).then((address) =>
        'refused' in address ? address.refused : undefined,
      );
    known.set(account.name, found);
    return found;
  };
}

/** Lifetime of a URL that is never used. */
const PROBE_MS = 60_000;

/**
 * Implements `media.planCampaign`: reads, validates and joins the inputs, and writes the plan. It sends nothing to the
 * service. A repeated run writes the same bytes under the same names. Heartbeats contain only counts.
 */
export function createPlanCampaign(deps: PlanCampaignDeps) {
  const { accounts, artifacts, models, inputRoots, journal, createsPerSecond } = deps;
  return async ({ manifest, ...input }: PlanCampaignInput): Promise<CampaignPlan> => {
    const context = Context.current();
    const { campaign } = input;
    const { namespace } = caller();
    const signal = context.cancellationSignal;
    let progress: PlanProgress = { results: 0, rows: 0 };
    const heartbeat = startHeartbeat(() => progress);
    try {
      const others = await othersOf(deps);
      const accountOf = (name: string | undefined) => {
        const own = accounts.find(name);
        if (own !== undefined) return own;
        if (others === undefined)
          throw retryLater({
            class: 'journal_not_bound',
            message:
              "The accounts of this queue's workers cannot be read right now. Planning will be retried.",
          });
        return accountNamed(others, name);
      };
      // Only a worker that has the account may fetch and validate the manifest.
      if (accounts.find(input.account) === undefined && accountOf(input.account) !== undefined)
        retryOnAnotherWorker();
      const client = accounts.find(input.account)?.client;
      const plan = await planManifest({
        ...input,
        ...given({ format: manifest.format }),
        open: manifestBytes(manifest.source, { artifacts, inputRoots, client, signal }),
        models,
        modelsOf: (name) => accounts.find(name)?.models ?? models,
        store: artifacts,
        sink: artifacts,
        file: (path) => inputFile(path, artifacts, inputRoots),
        unaddressable: unaddressable(artifacts, (name) => accounts.find(name ?? input.account)),
        hasJournal: !keepsNothing(journal),
        ...(!keepsNothing(journal) && {
          isBought: async (row) =>
            (await startedBefore(journal, namespace, campaign, row)).started.bought !== undefined,
          isFirstText: async (row) => {
            const account = accountOf(row.account ?? input.account);
            if (account === undefined) return false;
            const creationKey = rowCreationKey(campaign, row, 0);
            return isFirstText(
              journal,
              { namespace, creationKey },
              fingerprintOf(row.call, account, new Map()),
            );
          },
        }),
        knowsAccount: (name) => accountOf(name) !== undefined,
        isElsewhere: (name) => accounts.find(name) === undefined && accountOf(name) !== undefined,
        signal,
        onProgress: (now) => {
          progress = now;
        },
      });
      return { ...plan, ...given({ createsPerSecond }) };
    } catch (error) {
      // Throws Temporal's own failure when the activity is canceled.
      if (signal.aborted) await context.cancelled;
      if (!(error instanceof ModelsDownError)) throw error;
      const { message, retryAfterMs } = error;
      throw retryLater({ class: 'configuration_unavailable', message, delayMs: retryAfterMs });
    } finally {
      heartbeat.stop();
    }
  };
}

/** Copies a row's file into the store, from the first input root that contains it. */
async function inputFile(
  path: string,
  artifacts: ArtifactStore,
  roots: readonly string[],
): Promise<ArtifactRef | undefined> {
  for (const root of roots) {
    const real = await realInputFile(join(root, path), roots);
    if (real === undefined) continue;
    try {
      return (await ingestFile(artifacts, real)).artifact;
    } catch (error) {
      const isOurs = error instanceof ArtifactError;
      if (!isOurs || !['not_media', 'not_readable', 'too_large'].includes(error.code)) throw error;
    }
  }
  return undefined;
}
