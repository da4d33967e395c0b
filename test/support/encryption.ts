import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { type TestServer } from './temporal';

const ENCRYPTED = 'binary/encrypted';
const { Payload: PayloadMessage } = temporal.api.common.v1;

/** As the samples of Temporal do it: each payload whole, with its metadata. */
export class Encryption implements PayloadCodec {
  readonly #key = randomBytes(32);

  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(
      payloads.map((payload) => {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
        const plain = PayloadMessage.encode(payload).finish();
        const data = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
        return { metadata: { [METADATA_ENCODING_KEY]: Buffer.from(ENCRYPTED) }, data };
      }),
    );
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(
      payloads.map((payload) => {
        if (encodingOf(payload) !== ENCRYPTED) return payload;
        const data = Buffer.from(payload.data ?? []);
        const decipher = createDecipheriv('aes-256-gcm', this.#key, data.subarray(0, 12));
        decipher.setAuthTag(data.subarray(-16));
        const plain = Buffer.concat([decipher.update(data.subarray(12, -16)), decipher.final()]);
        return PayloadMessage.decode(plain);
      }),
    );
  }
}

function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.[METADATA_ENCODING_KEY] ?? []).toString();
}

/** Every payload below a message of the server. */
function* payloadsIn(value: unknown): Generator<Payload> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if ('metadata' in value && 'data' in value) return void (yield value as Payload);
  // The server indexes search attributes: a codec never sees them.
  for (const [name, inner] of Object.entries(value))
    if (name !== 'searchAttributes') yield* payloadsIn(inner);
}

/** No payload of these workflows can be read on the server, but what the SDK itself marks. */
export async function expectUnreadable(server: TestServer, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { events } = await server.client.workflow.getHandle(id).fetchHistory();
    const own = events?.filter(({ markerRecordedEventAttributes: marker }) => marker == null);
    const { workflowExecutionInfo } = await server.client.workflowService.describeWorkflowExecution({
      namespace: server.namespace,
      execution: { workflowId: id },
    });
    const memo = workflowExecutionInfo?.memo;
    const payloads = [...payloadsIn([own, memo])];
    expect(payloads.length).toBeGreaterThan(3);
    expect(new Set(payloads.map(encodingOf))).toEqual(new Set([ENCRYPTED]));
  }
}
