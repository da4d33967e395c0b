import { type Client, WorkflowClient } from '@temporalio/client';
import {
  type LoadedDataConverter,
  METADATA_ENCODING_KEY,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import { readPayloads } from './read-payloads';

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
