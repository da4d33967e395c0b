import { createHash } from 'node:crypto';

/** Every type of notice, and when it is sent. */
export const NOTICE_TYPES = {
  'call.ended': 'A video, image or edit has ended, whatever its outcome.',
  'call.unconfirmed': 'It is unknown whether the service accepted a call. A person has to decide.',
  'call.results_lost': 'A call was paid for, and its results could not be stored.',
  'call.review': 'A call or campaign has ended, and a person has to check its bill.',
  'account.closed': 'The service refuses all calls of an account because of its key, balance or quota.',
  'campaign.ended': 'A campaign has ended.',
  'limit.reached': "An account's calls have reached 80 or 100 % of its spend limit.",
  'budget.reached': 'A campaign has reached 80 or 100 % of its budget.',
  'bills.differ': 'Bills do not match what the journal contains.',
  'notices.test': 'A person tests the endpoint.',
} as const;

/** The type of a notice. */
export type NoticeType = keyof typeof NOTICE_TYPES;

/** A value in a notice: an id, a word from a fixed list, a time, an amount in micro-units, or a count. */
export type NoticeValue = string | number | null | { readonly [name: string]: NoticeValue };

/** One event, as all endpoints get it. Contains ids and amounts, and never a prompt, text of the service, path or URL. */
export interface Notice {
  /** The header `webhook-id`. The same event has the same id, however often and by whichever worker it is found. */
  readonly id: string;
  /** What happened. */
  readonly type: NoticeType;
  /** When it happened or, if nothing says so, when it was noticed. ISO 8601. */
  readonly timestamp: string;
  /** The facts, by name. They depend on the type. */
  readonly data: { readonly [name: string]: NoticeValue };
}

/** The queue of media workers that notices are about. */
export interface NoticePlace {
  /** Temporal namespace. */
  readonly namespace: string;
  /** The base name, without the suffix of an activity queue. */
  readonly taskQueue: string;
}

/** The task queue of the notices of a media worker's task queue. No paid call ever runs on it. */
export const noticesQueue = (taskQueue: string): string => `${taskQueue}/notices`;

/** The id of the workflow that looks for events. There is one for each task queue. */
export const collectorId = (taskQueue: string): string => `media-notices/${taskQueue}`;

/** The id of the workflow that delivers a notice. An endpoint that is added gets what still waits, and no other gets it again. */
export const deliveryId = (notice: Pick<Notice, 'id'>, endpoint: { readonly id: string }): string =>
  `${notice.id}/${endpoint.id}`;

/**
 * Creates a notice.
 * @param about what happened to what. It determines the id together with the type and the namespace. Two queues may share
 *   a journal, so the one that finds an event does not
 * @param at milliseconds since the Unix epoch
 */
export function makeNotice(
  { namespace, taskQueue }: NoticePlace,
  type: NoticeType,
  about: readonly (string | number)[],
  at: number,
  data: Notice['data'],
): Notice {
  const text = JSON.stringify([type, namespace, ...about]);
  const id = `msg_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  return { id, type, timestamp: new Date(at).toISOString(), data: { namespace, taskQueue, ...data } };
}

/** Returns a short word such as `rejected` or `USD`; null for anything else, because any client can return any result. */
export function plainWord(value: unknown): string | null {
  return typeof value === 'string' && /^\w{1,40}$/.test(value) ? value : null;
}

/** Returns an id; null for anything else, such as a text with spaces or a URL. */
export function plainId(value: unknown): string | null {
  return typeof value === 'string' && /^[\w.@:/+=~-]{1,1000}$/.test(value) && !value.includes('://')
    ? value
    : null;
}

/** Returns an amount or a count; null for anything else. */
export function plainNumber(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

/** Returns a field of anything; undefined if there is none. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Returns the amounts and counts among the fields of anything. */
export function numbersIn(value: unknown): { readonly [name: string]: number } {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      plainWord(name) !== null && plainNumber(inner) !== null ? [[name, inner as number] as const] : [],
    ),
  );
}
