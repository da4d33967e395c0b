import { type ModelEntry, type Money, type PaidRequest } from 'temporal-media';
import { type ModelSource } from 'temporal-media/activities';
import { GIVES_NONE } from 'temporal-media/internal/activities/sources';
import { given } from 'temporal-media/internal/domain/json';
import { addressedSources, validateAgainstModel } from 'temporal-media/internal/domain/model-config';
import { estimateFor } from 'temporal-media/internal/domain/money';
import { credentialOf } from 'temporal-media/internal/domain/names';
import { configOfAccount } from 'temporal-media/internal/settings/accounts';
import { createModelSource } from 'temporal-media/internal/settings/model-source';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import { type MediaConfig } from 'temporal-media/worker';
import { type DevState, readDevState } from './dev-state';
import { CliError } from './errors';
import { refuseIssues } from './invalid-request';
import { type ModelsOrigin } from './json-output';
import { shownLocation } from './text';

/** A paid call that is valid according to the known model configuration. */
export interface ValidatedCall {
  /** `unlisted`: the model has no entry, so values were not validated and only safe fields are allowed. */
  readonly model: 'entry' | 'unlisted';
  readonly entry: ModelEntry | undefined;
  /** Calculated with the entry's price rule. Null means unknown, never free. */
  readonly estimate: Money | null;
  readonly source: ModelsOrigin;
}

/** The settings and the account that a call is validated for. */
export interface CallPlace {
  readonly config: MediaConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly account: string | undefined;
}

/**
 * Validates a call as a worker with this model configuration would before sending it. Sends and starts nothing.
 * @throws CliError for a call that the worker would reject, and `models_unavailable`
 */
export async function validateCall(
  paid: PaidRequest,
  { config, env, account }: CallPlace,
): Promise<ValidatedCall> {
  const { source, origin } = await modelsInForce(config, env, account);
  const kind = paid.operation === 'create_video' ? 'video' : 'image';
  const lookup = await source.lookup(paid.request.model, kind);
  if (lookup.found === 'unavailable') throw new CliError('models_unavailable', lookup.message);
  refuseIssues(validateAgainstModel(paid, lookup).issues, paid);
  const addressed = addressedSources(paid, lookup);
  if (addressed.length > 0 && (await openArtifactStore(config)).presign === undefined)
    refuseIssues(
      addressed.map(({ field }) => ({ field, message: GIVES_NONE })),
      paid,
    );
  const entry = lookup.found === 'entry' ? lookup.entry : undefined;
  return {
    model: entry === undefined ? 'unlisted' : 'entry',
    entry,
    estimate: exact(estimateFor(paid, entry)),
    source: origin,
  };
}

/** Returns null (unknown) for an amount that is not a safe integer of micro-units. */
function exact(estimate: Money | null): Money | null {
  return estimate !== null && Number.isSafeInteger(estimate.microUnits) ? estimate : null;
}

/** The model configuration as a worker with this environment would read it. */
export interface ModelsInForce {
  readonly source: ModelSource;
  readonly entries: readonly ModelEntry[];
  readonly origin: ModelsOrigin;
  /** Returns the configuration of another account in MEDIA_ACCOUNTS, or the default one if it has none. */
  readonly sourceOf: (account: string) => ModelSource;
}

const READ_MS = 5_000;

/** Accepts everything, because a worker might allow it. */
const NOT_KNOWN_HERE: ModelSource = {
  lookup: () => Promise.resolve({ found: 'not_known_here' }),
  all: () => Promise.resolve(undefined),
  fingerprint: () => 'none',
};

/**
 * Reads the worker's model configuration, if this machine knows it, from MEDIA_MODELS or from the sandbox of the `dev`
 * that commands use. Does not need a Temporal server. @throws CliError `models_unavailable`
 * @param account the account whose configuration to read. @default the account of calls that do not specify one
 */
export async function modelsInForce(
  all: MediaConfig,
  env: NodeJS.ProcessEnv,
  account?: string,
): Promise<ModelsInForce> {
  const config = configOfAccount(all, account);
  // Only other workers have this account, so its models are unknown here.
  const isElsewhere = account !== undefined && config === all && credentialOf(account) !== all.credential;
  const dev = config.models === undefined ? await devInUse(config, env) : undefined;
  const fromDev = config.baseUrl === undefined ? dev?.sandbox?.modelsUrl : undefined;
  const location = isElsewhere ? undefined : (config.models ?? fromDev);
  const source = location === undefined ? NOT_KNOWN_HERE : openSource(location, config);
  const entries = await readEntries(source);
  return {
    source,
    sourceOf: (other) => sourceOfAccount(configOfAccount(all, other), config, source),
    entries,
    origin: {
      account: account ?? config.credential,
      origin: location === undefined ? 'none' : config.models === undefined ? 'dev' : 'environment',
      location: location === undefined ? null : shownLocation(location),
      fingerprint: location === undefined ? null : source.fingerprint(),
      unknownModels: config.unknownModels ?? (location === undefined ? 'allow' : 'refuse'),
    },
  };
}

/** Returns the `dev` that uses the data directory, unless the environment specifies another server or queue. */
export async function devInUse(
  { dataDir }: MediaConfig,
  env: NodeJS.ProcessEnv,
): Promise<DevState | undefined> {
  const dev = await readDevState(dataDir);
  if (dev === undefined) return undefined;
  const address = env['TEMPORAL_ADDRESS'];
  const elsewhere = address ? address !== dev.address : Boolean(env['TEMPORAL_PROFILE']);
  const namespace = env['TEMPORAL_NAMESPACE'] || dev.namespace;
  const queue = env['MEDIA_TASK_QUEUE']?.trim() || dev.taskQueue;
  return elsewhere || namespace !== dev.namespace || queue !== dev.taskQueue ? undefined : dev;
}

const OPENED = new Map<string, ModelSource>();

function sourceOfAccount(other: MediaConfig, { models }: MediaConfig, known: ModelSource): ModelSource {
  if (other.models === undefined || other.models === models) return known;
  let source = OPENED.get(other.models);
  if (source === undefined) OPENED.set(other.models, (source = openSource(other.models, other)));
  return source;
}

function openSource(location: string, { unknownModels }: MediaConfig): ModelSource {
  try {
    return createModelSource({ timeoutMs: READ_MS, location, ...given({ unknownModels }) });
  } catch (error) {
    throw new CliError('models_unavailable', (error as Error).message);
  }
}

async function readEntries(source: ModelSource): Promise<readonly ModelEntry[]> {
  const found = await source.lookup('');
  if (found.found === 'unavailable') throw new CliError('models_unavailable', found.message);
  return (await source.all()) ?? [];
}
