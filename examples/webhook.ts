// Receives signed webhooks: when a gateway reports that a task may be done, the next poll runs immediately. With slow
// polling, a video then takes two or three polls. A lost webhook only delays a poll; the poll decides, not the webhook.
import { type IncomingMessage, type RequestListener } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { type TemporalMediaClient } from 'temporal-media/client';

const MAX_BODY_BYTES = 64 * 1024;

export interface WebhookOptions {
  readonly media: Pick<TemporalMediaClient, 'nudge'>;
  /** Shared with the sender, which signs as Standard Webhooks says: `whsec_` and random bytes in Base64. */
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
      if (!isSigned(body, request, secret)) return end(401);
      const { id } = JSON.parse(body) as { readonly id?: unknown };
      if (typeof id !== 'string' || id === '') return end(400);
      end((await media.nudge(id)) ? 202 : 404);
    };
    reply().catch(() => end(500));
  };
}

/** Refuses other secrets and bodies, and messages that are older than five minutes and may be replays. */
function isSigned(body: string, { headers }: IncomingMessage, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) if ((bytes += chunk.length) <= MAX_BODY_BYTES) chunks.push(chunk);
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined;
}
