// A codec server: it decrypts for the Temporal UI, the `temporal` command and `temporal-media`, which have no keys. A caller
// that passes its check can read every payload. It listens on this machine only; put TLS in front of it for anything else.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { Encryption } from './encryption';

const { Payloads } = temporal.api.common.v1;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface CodecServerOptions {
  readonly codec: PayloadCodec;
  /** Who may read. The UI sends the access token of its user: check that one with your identity provider. */
  readonly allows: (authorization: string, request: IncomingMessage) => boolean;
  /** The one origin that may call it, such as https://temporal.example.com. */
  readonly uiOrigin?: string | undefined;
}

/** Answers POST …/encode and …/decode. */
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
    reply().catch((error: Error) => end(400, error.message)); // `temporal-media` shows it: a key that is not here
  };
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) if ((bytes += chunk.length) <= MAX_BODY_BYTES) chunks.push(chunk);
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
/** A word that all readers share, such as `Bearer …`: TEMPORAL_CODEC_AUTH of the commands. */
export const allowsWord = (word: string) => (authorization: string) =>
  word !== '' && timingSafeEqual(digest(authorization), digest(word));

if (require.main === module) {
  const { FILM_PAYLOAD_KEYS = '', CODEC_AUTH = '', CODEC_UI_ORIGIN: uiOrigin } = process.env;
  const options = { codec: new Encryption(FILM_PAYLOAD_KEYS), allows: allowsWord(CODEC_AUTH), uiOrigin };
  createServer(codecListener(options)).listen(8081, '127.0.0.1');
}
