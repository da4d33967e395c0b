// Decrypts payloads for the Temporal UI, the `temporal` CLI and `temporal-media`, which don't have the keys.
// Authorized callers can read every payload. It listens on localhost only; put TLS in front of it for remote access.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { Encryption } from './encryption';

const { Payloads } = temporal.api.common.v1;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface CodecServerOptions {
  readonly codec: PayloadCodec;
  /** Whether a caller may read payloads. The UI sends its user's access token: check it with your identity provider. */
  readonly allows: (authorization: string, request: IncomingMessage) => boolean;
  /** The only browser origin that may call the server, such as https://temporal.example.com. */
  readonly uiOrigin?: string | undefined;
}

/** Handles POST …/encode and …/decode. */
export function codecListener({ codec, allows, uiOrigin }: CodecServerOptions): RequestListener {
  return (request, response) => {
    const { origin, authorization = '' } = request.headers;
    const end = (status: number, text?: string) =>
      void response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(text);
    if (origin !== undefined && origin !== uiOrigin) return end(403);
    if (origin !== undefined) {
      response.setHeader('access-control-allow-origin', origin).setHeader('vary', 'origin');
      response.setHeader('access-control-allow-headers', 'authorization, content-type, x-namespace');
    }
    if (request.method === 'OPTIONS') return end(204);
    const work = /\/(encode|decode)$/.exec(request.url ?? '')?.[1] as 'encode' | 'decode' | undefined;
    if (work === undefined || request.method !== 'POST') return end(404);
    if (!allows(authorization, request)) return end(401);
    const reply = async (): Promise<void> => {
      const body = await bodyOf(request);
      if (body === undefined) return end(413);
      const asked = Payloads.fromObject(JSON.parse(body) as object);
      const payloads = await codec[work](asked.payloads);
      const text = JSON.stringify(Payloads.toObject(Payloads.create({ payloads }), { bytes: String })); // Base64
      response.setHeader('content-type', 'application/json').end(text);
    };
    reply().catch((error: Error) => end(400, error.message)); // shown by `temporal-media`, such as a missing key
  };
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) if ((bytes += chunk.length) <= MAX_BODY_BYTES) chunks.push(chunk);
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
/** A secret that all readers share, such as `Bearer …`. Both CLIs read it from TEMPORAL_CODEC_AUTH. */
export const allowsWord = (word: string) => (authorization: string) =>
  word !== '' && timingSafeEqual(digest(authorization), digest(word));

if (require.main === module) {
  const { FILM_PAYLOAD_KEYS = '', CODEC_AUTH = '', CODEC_UI_ORIGIN: uiOrigin } = process.env;
  const options = { codec: new Encryption(FILM_PAYLOAD_KEYS), allows: allowsWord(CODEC_AUTH), uiOrigin };
  createServer(codecListener(options)).listen(8081, '127.0.0.1');
}
