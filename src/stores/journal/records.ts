import { createHash } from 'node:crypto';
import { z } from 'zod';
import { throwBug } from '../../domain/bug';
import { type CampaignLog, type CampaignRecord } from '../../domain/campaign/budget-book';
import { type EntryPlace, type TaskIndexEntry } from '../../domain/journal';
import { parseOwnJson } from '../../domain/json';
import { type JournalKey, type LogEntry } from '../../domain/log-entries';
import { SPEND_PERIODS } from '../../domain/money';
import { isUsableTaskId } from '../../domain/video-task';
import { systemCode, systemFault } from '../files/system-errors';

/** The names of a journal's records (architecture: Stores). They are API, because journals outlive versions. */

/** The record with the journal's ID and sealing key. */
export const IDENTITY = 'journal.json';

/** The prefix of all creation keys' records. */
export const KEYS = 'keys/';

/** The prefix of one creation key's records: `keys/<h[0:2]>/<h>/` with h = SHA-256 of the namespace and the key. */
export function keyPrefix({ namespace, creationKey }: JournalKey): string {
  const hash = sha256(`${namespace}\n${creationKey}`);
  return prefixOfHash(hash);
}

export function prefixOfHash(hash: string): string {
  return `${KEYS}${hash.slice(0, 2)}/${hash}/`;
}

/** The key's digest in a record name; undefined for any other name. */
export function hashIn(name: string): string | undefined {
  return /^keys\/[0-9a-f]{2}\/([0-9a-f]{64})\//.exec(name)?.[1];
}

/** The name of entry `n` (from 0) in the log with this key prefix. */
export function entryName(prefix: string, n: number): string {
  return `${prefix}${n}.entry`;
}

/** An entry's number in its log; undefined for any other name. */
export function numberIn(name: string): number | undefined {
  const match = /\/(0|[1-9]\d*)\.entry$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** The name of the note that marks a key as being removed. */
export function removalName(prefix: string): string {
  return `${prefix}removal`;
}

/** The prefix of a task ID's index entries, one for each account. */
export function taskPrefix(taskId: string): string {
  const hash = sha256(taskId);
  return `tasks/${hash.slice(0, 2)}/${hash}/`;
}

export function taskName(taskId: string, account: string): string {
  return `${taskPrefix(taskId)}${sha256(account).slice(0, 16)}.json`;
}

/** The prefix of the hints that point to possibly open intents with this body. */
export function openPrefix(bodyHash: string): string {
  const hash = sha256(bodyHash);
  return `open/${hash.slice(0, 2)}/${hash}/`;
}

/** Each intent has its own hint, so settling an earlier intent never removes a later intent's hint. */
export function openName({ namespace, creationKey, n }: EntryPlace, bodyHash: string): string {
  return `${openPrefix(bodyHash)}${sha256(`${namespace}\n${creationKey}`)}.${n}.json`;
}

export function markName(mark: string): string {
  return `marks/${sha256(mark)}.mark`;
}

/** The prefix of campaign logs and of accounts' spending logs. */
export const CAMPAIGNS = 'campaigns/';

/** The name of record `n` in a campaign's log, outside the creation keys. */
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
  labels: z.record(z.string(), z.string()).optional(),
  reserved: z.array(z.object({ payer: z.string(), per: z.enum(SPEND_PERIODS), at: time })).optional(),
  process: z.object({ space: z.string(), pid: z.int(), identity: z.string() }).optional(),
});
const lost = z.looseObject({ ...sent, kind: z.literal('lost'), cause: z.string() });
const fence = z.looseObject({ ...ofSender, kind: z.literal('fence') });
/** The fields that decisions depend on. All others are kept as written. */
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
/** The outcomes that each decision's answer can have. `resubmit` has no answer. */
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
const bill = z.looseObject({
  ...written,
  kind: z.literal('bill'),
  about: z.string(),
  microUnits: z.int(),
  currency: z.string(),
  source: z.enum(['service', 'invoice', 'person']),
  reference: z.string(),
  by: z.string(),
  reason: z.string(),
});
const entry = z.discriminatedUnion('kind', [intent, lost, answer, fence, decision, bill]);
/** The note that a removal writes before it starts: the digests of the entries that it judged, and the time. */
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
  billed: money,
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
const spend = z.object({ ...written, kind: z.literal('spend'), nonce: z.string(), spent: money });

const allowance = z.object({
  ...written,
  kind: z.literal('allowance'),
  nonce: z.string(),
  microUnits: money.min(0),
  until: time,
  by: z.string(),
  reason: z.string(),
});

const campaignRecord = z.discriminatedUnion('kind', [book, batch, owner, batchFence, free, spend, allowance]);

/** Thrown for unreadable records. The caller must stop, because guessing the content could spend money twice. */
export class JournalRecordError extends Error {
  override readonly name = 'JournalRecordError';
  /** After a scan, the `next` with which another one continues past the unreadable log, for readers that only report. */
  next?: string;
}

export const parseIdentity = (text: string): z.infer<typeof identity> =>
  parseRecord(identity, text, 'identity');
export const parseEntry = (text: string): LogEntry =>
  parseRecord(entry, text, 'log entry') as unknown as LogEntry;
export const parseIndexEntry = (text: string): TaskIndexEntry =>
  parseRecord(indexEntry, text, 'task index entry') as unknown as TaskIndexEntry;

export const parseRemoval = (text: string): z.infer<typeof removal> =>
  parseRecord(removal, text, 'removal note');

export const parseCampaignRecord = (text: string): CampaignRecord =>
  parseRecord(campaignRecord, text, 'campaign record');

/** Parses a record. Throws a {@link JournalRecordError} if it does not have this shape. */
function parseRecord<T>(schema: z.ZodType<T>, text: string, what: string): T {
  let json: unknown;
  try {
    json = parseOwnJson(text, foreignField);
  } catch (error) {
    throwBug(error);
    throw new JournalRecordError(
      `The journal contains a damaged ${what} (invalid JSON), so nothing is sent.`,
    );
  }
  const read = schema.safeParse(json);
  if (!read.success) {
    throw new JournalRecordError(
      `The journal contains a ${what} of an unknown version or shape, so nothing is sent.`,
    );
  }
  return read.data;
}

/** Parses a hint. An unreadable hint is ignored, because nothing depends on it. */
export function parsePlace(text: string): EntryPlace | undefined {
  try {
    const { namespace, creationKey, n } = place.parse(JSON.parse(text));
    return { namespace, creationKey, n };
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** This package never writes a `__proto__` field, so a record with one came from elsewhere. */
function foreignField(): never {
  throw new SyntaxError('The field name __proto__ is not allowed.');
}

/** Journal errors with advice and without secrets. Identified by name, because some of their packages are optional. */
const SAYS_WHY: ReadonlySet<string> = new Set(['JournalRecordError', 'PostgresError', 'S3Error']);

/** A store's own error message; undefined for any other error, whose message may contain a path. */
export function wordsOfStore(error: unknown): string | undefined {
  return error instanceof Error && SAYS_WHY.has(error.name) ? error.message : undefined;
}

/** Explains a journal failure for histories and logs in one sentence without secrets, URLs or paths. */
export function journalFault(error: unknown): string {
  const words = wordsOfStore(error);
  if (words !== undefined) return words;
  const code = systemCode(error);
  if (code !== 'unknown') return `The store failed (${systemFault(error)}).`;
  // An error name comes from code, so it never contains a value.
  const name = error instanceof Error && /^[A-Za-z]{1,60}$/.test(error.name) ? error.name : 'Error';
  return `The store failed (${name}). The message is omitted because it may contain a secret.`;
}
