// Receives signed webhooks: when a gateway reports that a task may be done, the next poll runs immediately. With slow
// polling, a video then takes two or three polls. A lost webhook only delays a poll; the poll decides, not the webhook.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type RequestListener } from 'node:http';
import { type TemporalMediaClient } from 'temporal-media/client';

const MAX_BODY_BYTES = 64 * 1024;
/** Maximum age in seconds. An older message may be a replay. */
const MAX_AGE_SECONDS = 300;

export interface WebhookOptions {
  readonly media: Pick<TemporalMediaClient, 'nudge'>;
  /** Shared with the sender, whose header is `x-signature: t=SECONDS,v1=HEX`: the HMAC-SHA256 of `SECONDS.BODY`. */
  readonly secret: string;
}

/** Handles a POST with the JSON object `{id}`: the id of a task or its workflow. */
export function webhookListener({ media, secret }: WebhookOptions): RequestListener {
  return (request, response) => {
    const end = (status: number) => void response.writeHead(status, { connection: 'close' }).end();
    const reply = async (): Promise<void> => {
      if (request.method !== 'POST') return end(405);
      const body = await bodyOf(request);
      if (body === undefined) return end(413);
      if (!isSigned(body, String(request.headers['x-signature']), secret)) return end(401);
      const { id } = JSON.parse(body) as { readonly id?: unknown };
      if (typeof id !== 'string' || id === '') return end(400);
      end((await media.nudge(id)) ? 202 : 404);
    };
    reply().catch(() => end(500));
  };
}

/** The signature that the sender adds to a body and the receiver compares. */
export function signatureOf(body: string, secret: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

function isSigned(body: string, signature: string, secret: string): boolean {
  const seconds = Number(/^t=(\d+),/.exec(signature)?.[1]);
  if (secret === '' || !(Math.abs(Date.now() / 1000 - seconds) <= MAX_AGE_SECONDS)) return false;
  const [given, own] = [Buffer.from(signature), Buffer.from(signatureOf(body, secret, seconds))];
  return given.length === own.length && timingSafeEqual(given, own);
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) if ((bytes += chunk.length) <= MAX_BODY_BYTES) chunks.push(chunk);
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined;
}
