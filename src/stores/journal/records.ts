import { createHash } from 'node:crypto';
import { z } from 'zod';
import { throwBug } from '../../domain/bug';
import { type CampaignLog, type CampaignRecord } from '../../domain/campaign/budget-book';
import { type EntryPlace, type TaskIndexEntry } from '../../domain/journal';
import { parseOwnJson } from '../../domain/json';
import { type JournalKey, type LogEntry } from '../../domain/log-entries';
import { isUsableTaskId } from '../../domain/video-task';
import { systemCode, systemFault } from '../files/system-errors';

/** Where each record of a journal is, in every store (architecture: Stores). Names are API: journals outlive versions. */

/** Id and sealing key of the journal. */
export const IDENTITY = 'journal.json';

/** All records of creation keys. */
export const KEYS = 'keys/';

/** The records of one creation key, `keys/<h[0:2]>/<h>/`, with h = SHA-256 of namespace and key. */
export function keyPrefix({ namespace, creationKey }: JournalKey): string {
  const hash = sha256(`${namespace}\n${creationKey}`);
  return prefixOfHash(hash);
}

export function prefixOfHash(hash: string): string {
  return `${KEYS}${hash.slice(0, 2)}/${hash}/`;
}

/** The key's digest in the name of one of its records; undefined for a name of another form. */
export function hashIn(name: string): string | undefined {
  return /^keys\/[0-9a-f]{2}\/([0-9a-f]{64})\//.exec(name)?.[1];
}

/** Entry `n` of a log, from 0; by the prefix of its key. */
export function entryName(prefix: string, n: number): string {
  return `${prefix}${n}.entry`;
}

/** The number of an entry within its log; undefined for a name of another form. */
export function numberIn(name: string): number | undefined {
  const match = /\/(0|[1-9]\d*)\.entry$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Says that a key is being removed. */
export function removalName(prefix: string): string {
  return `${prefix}removal`;
}

/** The entries of a task id, one for each account. */
export function taskPrefix(taskId: string): string {
  const hash = sha256(taskId);
  return `tasks/${hash.slice(0, 2)}/${hash}/`;
}

export function taskName(taskId: string, account: string): string {
  return `${taskPrefix(taskId)}${sha256(account).slice(0, 16)}.json`;
}

/** The hints to intents for this body that may still be open. */
export function openPrefix(bodyHash: string): string {
  const hash = sha256(bodyHash);
  return `open/${hash.slice(0, 2)}/${hash}/`;
}

/** One for each intent: what is known of an earlier one takes nothing from a later one. */
export function openName({ namespace, creationKey, n }: EntryPlace, bodyHash: string): string {
  return `${openPrefix(bodyHash)}${sha256(`${namespace}\n${creationKey}`)}.${n}.json`;
}

export function markName(mark: string): string {
  return `marks/${sha256(mark)}.mark`;
}

/** Logs of campaigns, and of what accounts have spent. */
export const CAMPAIGNS = 'campaigns/';

/** A record of a campaign's log, beside the creation keys. */
export function campaignName({ namespace, name }: CampaignLog, n: number): string {
  const hash = sha256(`${namespace}\n${name}`);
  return `${CAMPAIGNS}${hash.slice(0, 2)}/${hash}/${n}.record`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const identity = z.object({
  v: z.literal(1),
  journalId: z.string().min(1),
  /** Base64 of 32 bytes. */
  sealingKey: z.string().regex(/^[A-Za-z0-9+/]{43}=$/),
});

const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));
const task = z.looseObject({ taskId: z.string().refine(isUsableTaskId), account: z.string() });

const written = { v: z.literal(1), at: z.string() };
const ofSender = {
  ...written,
  sender: z.string(),
  namespace: z.string(),
  workflowId: z.string().nullable(),
  ancestors: z.array(z.string()).optional(),
  activityId: z.string(),
};
const sent = {
  ...ofSender,
  nonce: z.string(),
  creationKey: z.string(),
  runId: z.string().nullable(),
  fingerprint: z.string().nullable(),
  attemptAt: time,
};
const intent = z.looseObject({
  ...sent,
  kind: z.literal('intent'),
  bodyHash: z.string(),
  sendWindowEnd: time,
  idempotencyKey: z.string(),
  idempotency: z.looseObject({ header: z.string(), lastSendAt: time }).optional(),
  payer: z.string().optional(),
});
const lost = z.looseObject({ ...sent, kind: z.literal('lost'), cause: z.string() });
const fence = z.looseObject({ ...ofSender, kind: z.literal('fence') });
/** The fields that decisions depend on; all others are passed on as written. */
const result = z
  .looseObject({
    outcome: z.enum([
      'created',
      'completed',
      'results_lost',
      'rejected',
      'refused_for_now',
      'not_sent',
      'unconfirmed',
    ]),
    sendAttempt: z.int().min(0),
    notBefore: time.nullish(),
    video: task.optional(),
  })
  .refine(({ outcome, video }) => outcome !== 'created' || video !== undefined);
const answer = z.looseObject({
  ...written,
  kind: z.literal('answer'),
  nonce: z.string(),
  answer: result,
  repeatedUntil: time.optional(),
});
/** Results that each decision has: what was adopted, that nothing was accepted, or none. */
const DECIDED: { readonly [decision: string]: readonly (string | undefined)[] } = {
  adopt: ['created', 'completed'],
  declareLost: ['rejected'],
  resubmit: [undefined],
};
const decision = z
  .looseObject({
    ...written,
    kind: z.literal('decision'),
    about: z.string(),
    decision: z.enum(['adopt', 'declareLost', 'resubmit']),
    by: z.string(),
    reason: z.string(),
    answer: result.nullable(),
  })
  .refine(({ decision: made, answer: end }) => DECIDED[made]?.includes(end?.outcome) === true);
const entry = z.discriminatedUnion('kind', [intent, lost, answer, fence, decision]);
/** What a removal leaves in the key before it begins: digests of the entries that it has judged, and when. */
const removal = z.object({ ...written, entries: z.array(z.string()) });
const place = z.looseObject({ namespace: z.string(), creationKey: z.string(), n: z.int().min(0) });
const indexEntry = z.looseObject({ v: z.literal(1), creationKey: z.string(), video: task });

/** Micro-units are exact integers. */
const money = z.int();
const number = z.int().min(0);

const book = z.object({
  ...written,
  kind: z.literal('book'),
  nonce: z.string(),
  closed: money,
  open: z.array(z.tuple([number, money.min(0).nullable()])),
  next: number,
});
const batch = z.object({
  ...written,
  kind: z.literal('batch'),
  nonce: z.string(),
  rows: z.array(
    z.object({
      index: z.string(),
      page: number,
      generation: number,
      size: number,
      rows: z
        .string()
        .regex(/^[0-9a-f]*$/)
        .exactOptional(),
      started: z.number().exactOptional(),
    }),
  ),
});
const owner = z.object({ ...written, kind: z.literal('owner'), run: z.string() });
const batchFence = z.object({ ...written, kind: z.literal('fence'), nonce: z.string() });
const free = z.object({ ...written, kind: z.literal('free'), by: z.string(), deducts: z.boolean() });
const spend = z.object({ ...written, kind: z.literal('spend'), nonce: z.string(), spent: money.min(0) });

const campaignRecord = z.discriminatedUnion('kind', [book, batch, owner, batchFence, free, spend]);

/** A record that cannot be read stops the caller: guessing its content could spend money twice. */
export class JournalRecordError extends Error {
  override readonly name = 'JournalRecordError';
}

export const parseIdentity = (text: string): z.infer<typeof identity> =>
  parseRecord(identity, text, 'identity');
export const parseEntry = (text: string): LogEntry =>
  parseRecord(entry, text, 'log entry') as unknown as LogEntry;
export const parseIndexEntry = (text: string): TaskIndexEntry =>
  parseRecord(indexEntry, text, 'task index entry') as unknown as TaskIndexEntry;

export const parseRemoval = (text: string): z.infer<typeof removal> =>
  parseRecord(removal, text, 'note of a removal');

export const parseCampaignRecord = (text: string): CampaignRecord =>
  parseRecord(campaignRecord, text, 'record of a campaign');

/** Parses a record; throws a {@link JournalRecordError} when it does not have this shape. */
function parseRecord<T>(schema: z.ZodType<T>, text: string, what: string): T {
  let json: unknown;
  try {
    json = parseOwnJson(text, foreignField);
  } catch (error) {
    throwBug(error);
    throw new JournalRecordError(
      `The journal holds a ${what} that is not JSON; nothing is sent because of it.`,
    );
  }
  const read = schema.safeParse(json);
  if (!read.success) {
    throw new JournalRecordError(
      `The journal holds a ${what} of an unknown version or shape; nothing is sent because of it.`,
    );
  }
  return read.data;
}

/** A hint that cannot be read is ignored: nothing depends on it. */
export function parsePlace(text: string): EntryPlace | undefined {
  try {
    const { namespace, creationKey, n } = place.parse(JSON.parse(text));
    return { namespace, creationKey, n };
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** This package writes no field `__proto__`: a record with one has another origin. */
function foreignField(): never {
  throw new SyntaxError('A field of that name is refused.');
}

/** Errors of journals that say what to change, and nothing secret. Known by name: the packages of some are optional. */
const SAYS_WHY: ReadonlySet<string> = new Set(['JournalRecordError', 'PostgresError', 'S3Error']);

/** The words of a store for its own fault; undefined for any other error, whose message may repeat a path. */
export function wordsOfStore(error: unknown): string | undefined {
  return error instanceof Error && SAYS_WHY.has(error.name) ? error.message : undefined;
}

/** Why a journal failed, as one sentence without a secret, an address or a path: for histories and logs. */
export function journalFault(error: unknown): string {
  const words = wordsOfStore(error);
  if (words !== undefined) return words;
  const code = systemCode(error);
  if (code !== 'unknown') return `Its store answers ${systemFault(error)}.`;
  // A name is a word of the code that threw, never a value.
  const name = error instanceof Error && /^[A-Za-z]{1,60}$/.test(error.name) ? error.name : 'Error';
  return `Its store failed with an error that is not repeated here (${name}).`;
}
