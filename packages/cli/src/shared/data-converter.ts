import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type DataConverter, ExternalStorage, type StorageDriver } from '@temporalio/common';
import { CodecUnreachableError } from 'temporal-media/client';
import { given } from 'temporal-media/internal/domain/json';
import { protobufCopies } from 'temporal-media/internal/installation';
import { ConfigurationError } from 'temporal-media/internal/settings/config';
import { openPayloadDriver } from 'temporal-media/internal/stores/open-stores';
import { remoteCodecOf } from './codec-client';
import { PROTOBUFS_REMEDY, TWO_PROTOBUFS, withoutSecrets } from './errors';

const CONVERTER = 'MEDIA_DATA_CONVERTER';
const STORAGE = 'MEDIA_EXTERNAL_STORAGE';
const THRESHOLD = 'MEDIA_EXTERNAL_STORAGE_THRESHOLD';
const CODEC = 'TEMPORAL_CODEC_ENDPOINT';

/**
 * An external storage failed to store or return a payload, so it is unknown what the payload says. The message contains
 * the driver's reason.
 */
class StorageUnreachableError extends CodecUnreachableError {
  override readonly name = 'StorageUnreachableError';
}

/** An external storage no longer has the object of a payload. Other payloads can be read. */
class StoredPayloadLostError extends Error {
  override readonly name = 'StoredPayloadLostError';
}

/**
 * Returns the data converter of every command, worker and replay: the module in MEDIA_DATA_CONVERTER, the storage in
 * MEDIA_EXTERNAL_STORAGE, and the codec server in TEMPORAL_CODEC_ENDPOINT. Undefined if none of them is set.
 * @param options.usesCodec whether the codec server applies; workers and `dev` do not use it
 * @throws ConfigurationError, CliError `configuration`
 */
export async function dataConverterOf(
  env: NodeJS.ProcessEnv,
  namespace: string,
  { usesCodec = true }: { readonly usesCodec?: boolean } = {},
): Promise<DataConverter | undefined> {
  const own = await moduleOf(env);
  const codec = usesCodec ? remoteCodecOf(env, namespace) : undefined;
  const storage = storageOf(env);
  if (codec !== undefined && (own?.payloadCodecs ?? []).length > 0) throw conflict(CODEC, 'payloadCodecs');
  if (storage !== undefined && own?.externalStorage !== undefined) throw conflict(STORAGE, 'externalStorage');
  const used = storage ?? own?.externalStorage;
  if (used !== undefined) refuseTwoProtobufs(storage === undefined ? CONVERTER : STORAGE);
  if (own === undefined && codec === undefined && used === undefined) return undefined;
  return {
    ...own,
    ...(codec !== undefined && { payloadCodecs: [codec] }),
    ...(used !== undefined && { externalStorage: explained(used) }),
  };
}

function conflict(variable: string, field: string): ConfigurationError {
  return new ConfigurationError(
    variable,
    `cannot be combined with the ${field} of the module in ${CONVERTER}. Unset one of them.`,
  );
}

function storageOf(env: NodeJS.ProcessEnv): ExternalStorage | undefined {
  const address = env[STORAGE]?.trim();
  const text = env[THRESHOLD]?.trim();
  if (text && !/^\d{1,12}$/.test(text))
    throw new ConfigurationError(THRESHOLD, 'must be a number of bytes, such as 0 for all payloads.');
  if (!address) {
    if (!text) return undefined;
    throw new ConfigurationError(
      THRESHOLD,
      `needs ${STORAGE}. A module in ${CONVERTER} sets its storage's payloadSizeThreshold.`,
    );
  }
  return new ExternalStorage({
    drivers: [openPayloadDriver<StorageDriver>(address)],
    ...given({ payloadSizeThreshold: text ? Number(text) : undefined }),
  });
}

/** Loads the module in MEDIA_DATA_CONVERTER: a path, or a package of the working directory's project. */
async function moduleOf(env: NodeJS.ProcessEnv): Promise<DataConverter | undefined> {
  const name = env[CONVERTER]?.trim();
  if (!name) return undefined;
  const load = createRequire(join(process.cwd(), 'package.json'));
  let exported: Record<string, unknown>;
  try {
    const file = resolve(name);
    exported = await imported(load, load.resolve(existsSync(file) ? file : name));
  } catch (error) {
    // The module is the user's code and may throw anything.
    const why = withoutSecrets(String((error as Error | null)?.message).split('\n')[0] ?? '').replace(
      /\.$/,
      '',
    );
    throw new ConfigurationError(CONVERTER, `the module cannot be loaded: ${why}.`);
  }
  const candidates = [exported['dataConverter'], exported['default'], exported];
  const found = candidates.find(isDataConverter);
  if (found === undefined)
    throw new ConfigurationError(
      CONVERTER,
      'the module must export a Temporal DataConverter as `dataConverter` or as its default export.',
    );
  return found;
}

async function imported(load: NodeJS.Require, path: string): Promise<Record<string, unknown>> {
  try {
    return load(path) as Record<string, unknown>;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_REQUIRE_ESM') throw error;
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  }
}

const FIELDS = ['payloadCodecs', 'externalStorage', 'payloadConverterPath', 'failureConverterPath'];

function isDataConverter(value: unknown): value is DataConverter {
  return typeof value === 'object' && value !== null && FIELDS.some((field) => field in value);
}

/** The SDK writes references with one copy of protobufjs and types of another, and fails. @throws ConfigurationError */
function refuseTwoProtobufs(variable: string): void {
  if (protobufCopies().length > 1)
    throw new ConfigurationError(variable, `${TWO_PROTOBUFS} ${PROTOBUFS_REMEDY}`);
}

/** Returns the same storage with errors that say that the storage failed. */
function explained(storage: ExternalStorage): ExternalStorage {
  const drivers = new Map(storage.drivers.map((driver) => [driver, explainedDriver(driver)]));
  return new ExternalStorage({
    drivers: [...drivers.values()],
    driverSelector: (context, payload) => {
      const selected = storage.driverSelector(context, payload);
      return selected === null ? null : (drivers.get(selected) ?? selected);
    },
    payloadSizeThreshold: storage.payloadSizeThreshold,
  });
}

/** The name or code of S3's error for an object that does not exist. */
const NO_OBJECT = 'NoSuchKey';

function explainedDriver(driver: StorageDriver): StorageDriver {
  const explain = (error: unknown): never => {
    let cause = error;
    while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
    const { name, code } = (cause ?? {}) as { readonly name?: unknown; readonly code?: unknown };
    if (name === NO_OBJECT || code === NO_OBJECT)
      throw new StoredPayloadLostError(`The external storage "${driver.name}" has lost a payload.`, {
        cause: error,
      });
    const why = withoutSecrets(cause instanceof Error ? cause.message : String(cause));
    throw new StorageUnreachableError(`The external storage "${driver.name}" failed: ${why}`, {
      cause: error,
    });
  };
  return {
    name: driver.name,
    type: driver.type,
    // The driver may be the user's code, and throw instead of rejecting.
    store: async (context, payloads) => {
      try {
        return await driver.store(context, payloads);
      } catch (error) {
        return explain(error);
      }
    },
    retrieve: async (context, claims) => {
      try {
        return await driver.retrieve(context, claims);
      } catch (error) {
        return explain(error);
      }
    },
  };
}
