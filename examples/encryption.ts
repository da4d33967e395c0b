// A payload codec that encrypts everything the Temporal server receives and stores, with AES-256-GCM. Workers, clients
// and the codec server (codec-server.ts) share the keys. See encrypted-workers.ts for how to add the codec.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';

const { Payload: Message } = temporal.api.common.v1;
const [ENCRYPTED, KEY_ID, CIPHER] = ['binary/encrypted', 'encryption-key-id', 'aes-256-gcm'] as const;
const [NONCE_BYTES, TAG_BYTES] = [12, 16];

export class Encryption implements PayloadCodec {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #newest: string;

  /** @param keys `ID:BASE64,OLDER-ID:BASE64`, 32 bytes each: the first key encrypts, all of them decrypt */
  constructor(keys: string) {
    const pairs = keys.split(',').map((key) => key.trim().split(':') as [id: string, key?: string]);
    this.#keys = new Map(pairs.map(([id, key = '']) => [id, Buffer.from(key, 'base64')]));
    this.#newest = pairs[0]![0];
    if (this.#keys.size !== pairs.length || ![...this.#keys].every(([id, key]) => id && key.length === 32))
      throw new Error(
        'The payload keys must be ID:BASE64 pairs of 32 bytes each, newest first, with unique ids.',
      );
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => {
      const nonce = randomBytes(NONCE_BYTES); // a nonce must never be reused with the same key
      const keyId = Buffer.from(this.#newest);
      const cipher = createCipheriv(CIPHER, this.#keys.get(this.#newest)!, nonce).setAAD(keyId);
      const secret = cipher.update(Message.encode(payload).finish()); // the payload including its metadata
      const data = Buffer.concat([nonce, secret, cipher.final(), cipher.getAuthTag()]);
      return { metadata: { [METADATA_ENCODING_KEY]: Buffer.from(ENCRYPTED), [KEY_ID]: keyId }, data };
    });
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => {
      const metadata = (name: string) => Buffer.from(payload.metadata?.[name] ?? []).toString();
      if (metadata(METADATA_ENCODING_KEY) !== ENCRYPTED) return payload; // written before the codec was added
      return Message.decode(this.#decrypt(metadata(KEY_ID), Buffer.from(payload.data ?? [])));
    });
  }

  #decrypt(keyId: string, data: Buffer): Buffer {
    const key = this.#keys.get(keyId);
    if (key === undefined) throw new Error(`This process does not have the payload key "${keyId}".`);
    try {
      const decipher = createDecipheriv(CIPHER, key, data.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(keyId)).setAuthTag(data.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      throw new Error(
        `Cannot decrypt with the payload key "${keyId}": the key differs or the payload was changed.`,
      );
    }
  }
}

/** `dataConverter` for clients and workers. */
export const encrypted = (keys = process.env['FILM_PAYLOAD_KEYS'] ?? '') => ({
  payloadCodecs: [new Encryption(keys)],
});
