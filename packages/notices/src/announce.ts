import { randomUUID } from 'node:crypto';
import { type Client } from '@temporalio/client';
import { type Money } from 'temporal-media';
import { ConfigurationError } from 'temporal-media/worker';
import { startDelivery } from './collect';
import { isTaken, type ReceiverReply, replyText, sendNotice } from './deliver';
import { filterOf, NOTIFY_VARIABLE } from './endpoints';
import { makeNotice, type NoticePlace } from './notice';
import { configuredEndpoints, DEFAULT_PAUSES } from './start-notices';

/** Bills that do not match what the journal contains. */
export interface BillsDiffer {
  /** What was checked, such as an invoice's number. The same check of the same bills is announced once. */
  readonly reference: string;
  /** Sends whose bill is missing, unknown or not what was expected. */
  readonly differing: number;
  /** What was billed for them. */
  readonly billed: Money;
  /** The command that shows them. */
  readonly command: string;
}

/**
 * Sends the notice `bills.differ` through the workers' notices. Returns whether an endpoint in MEDIA_NOTIFY wants it.
 * @throws ConfigurationError, or the error of a server that cannot be reached
 */
export async function announceBills(
  client: Client,
  taskQueue: string,
  { reference, differing, billed, command }: BillsDiffer,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const wanting = (configuredEndpoints(env) ?? []).filter(({ wants }) => wants('bills.differ'));
  if (wanting.length === 0) return false;
  const place: NoticePlace = { namespace: client.options.namespace, taskQueue };
  const about = [taskQueue, reference, differing, billed.currency, billed.microUnits];
  const data = { reference, differing, billed: { ...billed }, command };
  const notice = makeNotice(place, 'bills.differ', about, Date.now(), data);
  for (const endpoint of wanting) await startDelivery(client, place, notice, endpoint, DEFAULT_PAUSES);
  return true;
}

/** How an endpoint answered a test. */
export interface EndpointTest {
  /** Eight hex digits of the hashed URL, as in logs. */
  readonly endpoint: string;
  /** Its scheme, host and port. */
  readonly origin: string;
  /** Whether it answered with a 2xx status. */
  readonly taken: boolean;
  /** One human-readable sentence. */
  readonly message: string;
}

/**
 * Sends a `notices.test` to every endpoint in MEDIA_NOTIFY, once and from this process, without Temporal.
 * @throws ConfigurationError
 */
export async function testEndpoints(
  place: NoticePlace,
  env: NodeJS.ProcessEnv = process.env,
): Promise<readonly EndpointTest[]> {
  const notice = makeNotice(place, 'notices.test', [randomUUID()], Date.now(), {});
  return Promise.all(
    (configuredEndpoints(env) ?? []).map(async (endpoint) => {
      const reply: ReceiverReply = await sendNotice(endpoint, notice, env);
      const taken = isTaken(reply);
      const message = taken ? 'It took the test notice.' : replyText(reply);
      return { endpoint: endpoint.id, origin: endpoint.url.origin, taken, message };
    }),
  );
}

/** Returns what keeps MEDIA_NOTIFY from working on this machine; empty if nothing does. Sends nothing. */
export async function endpointProblems(env: NodeJS.ProcessEnv = process.env): Promise<readonly string[]> {
  try {
    const endpoints = configuredEndpoints(env) ?? [];
    for (const one of endpoints) one.secrets();
    const allowed = await Promise.all(endpoints.map((one) => filterOf(one).allowsHost(one.url)));
    return allowed.flatMap((isAllowed, index) =>
      isAllowed
        ? []
        : `${NOTIFY_VARIABLE}: endpoints[${index}].url leads to this machine or a private network. If it is meant, set allowPrivate to true.`,
    );
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [error.message];
  }
}
