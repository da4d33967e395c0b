import { type Client, WorkflowClient } from '@temporalio/client';
import {
  ExternalStorage,
  ExternalStorageNotConfiguredError,
  type LoadedDataConverter,
  METADATA_ENCODING_KEY,
  METADATA_MESSAGE_TYPE_KEY,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
  type StorageDriver,
  StorageDriverClaim,
  ValueError,
} from '@temporalio/common';
import { mapConcurrently } from '../domain/map-concurrently';
import { CodecUnreachableError } from './errors';

const KNOWN = new WeakMap<Client, WorkflowClient>();

/**
 * Returns a WorkflowClient that tolerates unreadable memos in lists and descriptions, such as a memo that another client's
 * codec has encrypted, that is in a storage without a driver here, or whose object is lost. Such memos count as absent, so
 * do not use this client for decisions that depend on a memo. The client's interceptors are not called.
 */
export function lenientClient(client: Client): WorkflowClient {
  let made = KNOWN.get(client);
  if (made === undefined) {
    const { connection, namespace, identity, dataConverter, loadedDataConverter } = client.options;
    made = new WorkflowClient({
      connection: connection ?? client.connection,
      namespace,
      identity,
      dataConverter: {
        ...dataConverter,
        payloadCodecs: [new Lenient(loadedDataConverter)],
        externalStorage: new LenientStorage(loadedDataConverter.externalStorage),
      },
    });
    KNOWN.set(client, made);
  }
  return made;
}

/** Replaces undecodable payloads with null. */
class Lenient implements PayloadCodec {
  constructor(private readonly converter: LoadedDataConverter) {}

  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads);
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const read = await readPayloads(this.converter, payloads, context);
    return read.map((found) => found?.payload ?? NOTHING);
  }
}

/** Reads with the client's drivers. Replaces payloads without a driver, and lost ones, with null. Stores nothing. */
class LenientStorage extends ExternalStorage {
  constructor(private readonly storage: ExternalStorage | undefined) {
    super({ drivers: [WITHOUT_DRIVER], driverSelector: () => null });
  }

  override getDriver(name: string): StorageDriver {
    const driver = this.storage?.getDriver(name);
    return driver == null ? WITHOUT_DRIVER : lenientDriver(driver);
  }
}

/** Fetches each payload separately, so that a lost one does not fail the others. */
function lenientDriver(driver: StorageDriver): StorageDriver {
  const retrieve = async (...[context, claims]: Parameters<StorageDriver['retrieve']>): Promise<Payload> => {
    try {
      const [payload = NOTHING] = await driver.retrieve(context, claims);
      return payload;
    } catch (error) {
      if (error instanceof CodecUnreachableError) throw error;
      return NOTHING;
    }
  };
  return {
    ...WITHOUT_DRIVER,
    retrieve: (context, claims) => Promise.all(claims.map((claim) => retrieve(context, [claim]))),
  };
}

const NOTHING: Payload = { metadata: { [METADATA_ENCODING_KEY]: Buffer.from('binary/null') } };
const WITHOUT_DRIVER: StorageDriver = {
  name: 'none',
  type: 'none',
  store: () => Promise.reject(new ExternalStorageNotConfiguredError()),
  retrieve: async (_context, claims) => claims.map(() => NOTHING),
};

/** A payload that was fetched and decoded, with its value. */
export interface ReadPayload {
  readonly payload: Payload;
  readonly value: unknown;
}

/** Reads how a run was started from its history. `input` is undefined if it cannot be read here. */
export async function readRunStart(
  { options: { namespace, loadedDataConverter }, workflowService }: Client,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
) {
  const execution = { workflowId, runId };
  const request = { namespace, execution, maximumPageSize: 1 };
  const { history } = await workflowService.getWorkflowExecutionHistory(request);
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const context = { type: 'workflow', namespace, workflowId } as const;
  const [input] = await readPayloads(loadedDataConverter, started?.input?.payloads ?? [], context);
  return { started, input };
}

/**
 * Fetches and decodes payloads as a client does. Returns undefined for each unreadable payload.
 * @throws CodecUnreachableError
 */
export async function readPayloads(
  converter: LoadedDataConverter,
  payloads: readonly Payload[],
  context?: SerializationContext,
): Promise<readonly (ReadPayload | undefined)[]> {
  // Decode all payloads in one call if possible, because a codec may be remote.
  const together = await decodedOrNot(converter, payloads, context);
  const each =
    together ??
    (await Promise.all(payloads.map(async (one) => (await decodedOrNot(converter, [one], context))?.[0])));
  return each.map((payload) => {
    try {
      if (payload === undefined) return undefined;
      return { payload, value: converter.payloadConverter.fromPayload(payload, context) };
    } catch (_error) {
      // The converter may be the user's code and may throw anything.
      return undefined;
    }
  });
}

async function decodedOrNot(
  ...[converter, payloads, context]: Parameters<typeof decodePayloads>
): Promise<readonly Payload[] | undefined> {
  try {
    return await decodePayloads(converter, payloads, context);
  } catch (error) {
    if (error instanceof CodecUnreachableError) throw error;
    return undefined;
  }
}

/**
 * Fetches and decodes payloads with a client's storage drivers and codecs, in the SDK's order.
 * @throws the error of a driver or codec; ExternalStorageNotConfiguredError, or ValueError for a missing driver
 */
export async function decodePayloads(
  { externalStorage, payloadCodecs }: Pick<LoadedDataConverter, 'externalStorage' | 'payloadCodecs'>,
  payloads: readonly Payload[],
  context: SerializationContext | undefined,
): Promise<readonly Payload[]> {
  let read = [...payloads];
  await mapConcurrently(payloads.entries(), AT_ONCE, async ([index, payload]) => {
    read[index] = await fetched(externalStorage, payload);
  });
  for (const codec of [...payloadCodecs].reverse()) read = await codec.decode(read, context);
  return read;
}

/** Maximum number of concurrent reads from external storage, because a history can have thousands of payloads. */
const AT_ONCE = 16;

/** Whether a payload is an SDK reference to bytes in external storage. */
export function isStoredElsewhere({ metadata, externalPayloads }: Payload): boolean {
  if ((externalPayloads ?? []).length > 0) return true;
  // Tools that do not know the field drop it.
  return Buffer.from(metadata?.[METADATA_MESSAGE_TYPE_KEY] ?? []).toString() === REFERENCE;
}

const REFERENCE = 'temporal.api.sdk.v1.ExternalStorageReference';

/** Fetches a payload. Does not use the SDK's own reader, which fails if npm has installed two copies of protobufjs. */
async function fetched(storage: LoadedDataConverter['externalStorage'], payload: Payload): Promise<Payload> {
  if (!isStoredElsewhere(payload)) return payload;
  if (storage === undefined) throw new ExternalStorageNotConfiguredError();
  const { driverName, claimData } = JSON.parse(Buffer.from(payload.data ?? []).toString()) as Reference;
  const driver = storage.getDriver(driverName);
  if (driver === null)
    throw new ValueError(`The external storage driver "${driverName}" is not configured here.`);
  const [stored] = await driver.retrieve({}, [new StorageDriverClaim(claimData)]);
  if (stored === undefined) throw new Error(`The external storage driver "${driverName}" returned nothing.`);
  return stored;
}

/** `temporal.api.sdk.v1.ExternalStorageReference` in JSON. */
interface Reference {
  readonly driverName: string;
  readonly claimData: Record<string, string>;
}
