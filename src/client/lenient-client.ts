import { type Client, WorkflowClient } from '@temporalio/client';
import {
  type LoadedDataConverter,
  METADATA_ENCODING_KEY,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import { CodecUnreachableError } from './errors';

const KNOWN = new WeakMap<Client, WorkflowClient>();

/**
 * A WorkflowClient that tolerates memos that it cannot decode, for lists and descriptions. Such a memo, for example one
 * that another client's codec has encrypted, counts as absent instead of ending the list. Not for decisions that depend
 * on a memo. Interceptors of the client are not called.
 */
export function lenientClient(client: Client): WorkflowClient {
  let made = KNOWN.get(client);
  if (made === undefined) {
    const { connection, namespace, identity, dataConverter, loadedDataConverter } = client.options;
    made = new WorkflowClient({
      connection: connection ?? client.connection,
      namespace,
      identity,
      dataConverter: { ...dataConverter, payloadCodecs: [new Lenient(loadedDataConverter)] },
    });
    KNOWN.set(client, made);
  }
  return made;
}

/** Replaces payloads that cannot be decoded by null. */
class Lenient implements PayloadCodec {
  constructor(private readonly converter: LoadedDataConverter) {}

  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads);
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const read = await readPayloads(this.converter, payloads, context);
    return read.map((found) => found?.payload ?? { metadata: { [METADATA_ENCODING_KEY]: NOTHING } });
  }
}

const NOTHING = Buffer.from('binary/null');

/** A payload after the codecs of a client have decoded it, and its value. */
export interface ReadPayload {
  readonly payload: Payload;
  readonly value: unknown;
}

/**
 * Decodes payloads as a client does; undefined for each that cannot be decoded.
 * @throws CodecUnreachableError
 */
export async function readPayloads(
  converter: LoadedDataConverter,
  payloads: readonly Payload[],
  context?: SerializationContext,
): Promise<readonly (ReadPayload | undefined)[]> {
  // One call for all payloads where that works, because a codec may be remote.
  const together = await decodePayloads(converter, payloads, context);
  const each =
    together ??
    (await Promise.all(payloads.map(async (one) => (await decodePayloads(converter, [one], context))?.[0])));
  return each.map((payload) => {
    try {
      if (payload === undefined) return undefined;
      return { payload, value: converter.payloadConverter.fromPayload(payload, context) };
    } catch {
      return undefined;
    }
  });
}

/** Payloads as the codecs of a client give them back; undefined when one cannot be decoded. @throws CodecUnreachableError */
export async function decodePayloads(
  { payloadCodecs }: LoadedDataConverter,
  payloads: readonly Payload[],
  context: SerializationContext | undefined,
): Promise<readonly Payload[] | undefined> {
  try {
    let read = [...payloads];
    for (const codec of [...payloadCodecs].reverse()) read = await codec.decode(read, context);
    return read;
  } catch (error) {
    if (error instanceof CodecUnreachableError) throw error;
    return undefined;
  }
}
