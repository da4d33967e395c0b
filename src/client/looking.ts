import { type Client, WorkflowClient } from '@temporalio/client';
import { type LoadedDataConverter, type Payload, type PayloadCodec } from '@temporalio/common';

const KNOWN = new WeakMap<Client, WorkflowClient>();

/**
 * The workflows of a client as somebody looks at them who needs the server's own fields alone: lists and descriptions. A
 * memo that it cannot read, such as one that another client's codec has encrypted, counts as absent instead of ending
 * the list. Not for decisions that depend on a memo.
 */
export function looking(client: Client): WorkflowClient {
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

/** Decodes to nothing what cannot be decoded. */
class Lenient implements PayloadCodec {
  constructor(private readonly converter: LoadedDataConverter) {}

  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads);
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.all(payloads.map((payload) => readable(this.converter, payload)));
  }
}

async function readable(converter: LoadedDataConverter, payload: Payload): Promise<Payload> {
  try {
    const decoded = await decodedPayload(converter, payload);
    converter.payloadConverter.fromPayload(decoded);
    return decoded;
  } catch {
    return { metadata: { encoding: Buffer.from('binary/null') } };
  }
}

/** A payload as the codecs of a client give it. Rejects when they cannot read it. */
export async function decodedPayload(
  { payloadCodecs }: LoadedDataConverter,
  payload: Payload,
): Promise<Payload> {
  let decoded = [payload];
  for (const codec of [...payloadCodecs].reverse()) decoded = await codec.decode(decoded);
  return decoded[0] ?? payload;
}
