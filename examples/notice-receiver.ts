// Receives notices of @temporal-media/notices. Keep the ids in your database, because every process sees its own.
import { type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Notice } from '@temporal-media/notices';
import { Webhook } from 'standardwebhooks';

/** Handles each notice once. `secret` is in the endpoint's `secretFile`; if `handle` fails, the notice is sent again. */
export function noticeListener(
  secret: string,
  handle: (notice: Omit<Notice, 'id'>) => unknown,
): RequestListener {
  const handled = new Set<string>();
  return (request, response) => {
    const headers = request.headers as Record<string, string>;
    const id = headers['webhook-id'] ?? '';
    const receive = async (): Promise<number> => {
      if (!(Number(headers['content-length']) <= 65_536)) return 413;
      const body = await text(request);
      const notice = new Webhook(secret).verify(body, headers) as Omit<Notice, 'id'>;
      if (!handled.has(id)) await handle(notice);
      handled.add(id);
      return 204;
    };
    const failed = (error: Error) => (error.name === 'WebhookVerificationError' ? 401 : 500);
    void receive()
      .catch(failed)
      .then((status) => response.writeHead(status, { connection: 'close' }).end());
  };
}
