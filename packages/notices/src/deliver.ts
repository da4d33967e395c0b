import { activityInfo, cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { Webhook } from 'standardwebhooks';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { PACKAGE_VERSION } from 'temporal-media/internal/domain/names';
import { ADDRESS_BLOCKED } from 'temporal-media/internal/service/address-filter';
import { networkCode } from 'temporal-media/internal/service/classify-reply';
import { environmentConnections } from 'temporal-media/internal/service/connections';
import { parseRetryAfter } from 'temporal-media/internal/service/reply-headers';
import { type Endpoint, filterOf } from './endpoints';
import { type Notice } from './notice';
import { type DeliverInput, type DeliveryEnd } from './workflows';

/** Time limits in milliseconds: for the connection, and for the whole exchange. */
const CONNECT_MS = 10_000;
const EXCHANGE_MS = 15_000;
/** How much of a reply's body is read, so that its connection can be closed in an orderly way. */
const MAX_BODY_BYTES = 16_384;
/** The longest wait that a receiver can ask for. */
const LONGEST_WAIT_MS = 12 * 60 * 60_000;

/** The reply of a receiver, or why there is none. */
export type ReceiverReply =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  /** A code of Node, undici or this package. */
  | { readonly code: string };

/**
 * Signs a notice and sends it to an endpoint once. Follows no redirect and connects only to public addresses, unless
 * the endpoint allows its own. Rejects only if the secret cannot be read. @throws ConfigurationError
 */
export async function sendNotice(
  endpoint: Endpoint,
  { id, type, timestamp, data }: Notice,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<ReceiverReply> {
  const { url } = endpoint;
  const body = JSON.stringify({ type, timestamp, data });
  // Each attempt has its own time, because receivers refuse old signatures.
  const now = new Date();
  const signatures = endpoint.secrets().map((secret) => new Webhook(secret).sign(id, now, body));
  const filter = filterOf(endpoint);
  const limit = AbortSignal.timeout(EXCHANGE_MS);
  let dispatcher: ReturnType<ReturnType<typeof environmentConnections>>['dispatcher'] | undefined;
  try {
    const connection = environmentConnections(env)(new URL(url.origin), {
      ...{ purpose: 'media', connections: 1, connectTimeoutMs: CONNECT_MS },
      ...{ headersTimeoutMs: EXCHANGE_MS, bodyTimeoutMs: EXCHANGE_MS },
      connector: filter.connector(CONNECT_MS),
    });
    ({ dispatcher } = connection);
    if (connection.viaProxy && !(await filter.allowsHost(url))) return { code: ADDRESS_BLOCKED };
    const reply = await dispatcher.request({
      ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method: 'POST', body },
      headers: {
        'content-type': 'application/json',
        'user-agent': `temporal-media/${PACKAGE_VERSION}`,
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': signatures.join(' '),
      },
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    await reply.body.dump({ limit: MAX_BODY_BYTES }).catch(otherwise(undefined));
    return { status: reply.statusCode, retryAfterMs: parseRetryAfter(reply.headers, now.getTime()) };
  } catch (error) {
    if (limit.aborted) return { code: 'TIMEOUT' };
    throwBug(error);
    return { code: networkCode(error) };
  } finally {
    await dispatcher?.destroy().catch(otherwise(undefined));
  }
}

/** Whether a receiver took a notice. */
export const isTaken = (reply: ReceiverReply): boolean =>
  'status' in reply && reply.status >= 200 && reply.status < 300;

/** Says in one sentence, without the address, what a receiver replied. */
export function replyText(reply: ReceiverReply): string {
  if ('code' in reply)
    return reply.code === ADDRESS_BLOCKED
      ? 'Its address leads to this machine or a private network, and allowPrivate is not set.'
      : `It did not answer (${reply.code}).`;
  const { status } = reply;
  if (status >= 300 && status < 400) return `It redirects (HTTP ${status}), and redirects are not followed.`;
  return `It answered with HTTP ${status}.`;
}

/** What a delivery needs from its worker. */
export interface DeliverParts {
  /** Reads the current endpoints. @throws ConfigurationError */
  readonly endpoints: () => readonly Endpoint[];
  readonly env: NodeJS.ProcessEnv;
  /** Counts attempts by type and result. */
  readonly count: (type: string, result: string) => void;
}

/** Creates the activity that delivers a notice to one endpoint. Its retry policy repeats it until it is taken. */
export function createDeliver(parts: DeliverParts): (input: DeliverInput) => Promise<DeliveryEnd> {
  return async ({ notice, endpoint: id }) => {
    const { attempt } = activityInfo();
    const about = { noticeId: notice.id, noticeType: notice.type, endpoint: id, attempt };
    // Attempts 1, 2, 4, 8 …, because there may be hundreds in three days.
    const isLogged = Number.isInteger(Math.log2(attempt));
    const endpoint = parts.endpoints().find((one) => one.id === id);
    if (endpoint === undefined) {
      // Another worker may have another MEDIA_NOTIFY, and this one may have it again.
      if (isLogged) log.warn('A notice waits, because this worker does not have its endpoint', about);
      throw notTaken('This worker does not have the endpoint.');
    }
    const reply = await sendNotice(endpoint, notice, parts.env, cancellationSignal());
    parts.count(notice.type, isTaken(reply) ? 'taken' : 'refused');
    if (isTaken(reply)) return 'taken';
    const why = replyText(reply);
    if ('status' in reply && reply.status === 410) {
      log.error('A notice was not delivered, because its endpoint is gone. Remove it from MEDIA_NOTIFY', {
        ...about,
        why,
      });
      return 'gone';
    }
    if (isLogged) log.warn('An endpoint did not take a notice; it will be sent again', { ...about, why });
    throw notTaken(why, 'status' in reply ? reply.retryAfterMs : undefined);
  };
}

function notTaken(message: string, retryAfterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    ...{ type: 'NoticeNotTaken', message, category: ApplicationFailureCategory.BENIGN },
    ...(retryAfterMs !== undefined &&
      retryAfterMs > 0 && { nextRetryDelay: Math.min(retryAfterMs, LONGEST_WAIT_MS) }),
  });
}
