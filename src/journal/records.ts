import { z } from 'zod';
import { throwBug } from '../domain/bug';
import {
  type SendAttemptKey,
  type OutcomeRecord,
  type Resolution,
  type Claim,
  type TaskIndexEntry,
} from '../domain/journal';
import { parseOwnJson } from '../domain/json';
import { isUsableTaskId } from '../domain/task-id';

const identity = z.object({
  v: z.literal(1),
  journalId: z.string().min(1),
  /** Base64 of 32 bytes. */
  sealingKey: z.string().regex(/^[A-Za-z0-9+/]{43}=$/),
});

const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));
const task = z.looseObject({ taskId: z.string().refine(isUsableTaskId), account: z.string() });

const intent = z.looseObject({
  v: z.literal(1),
  kind: z.literal('intent'),
  nonce: z.string(),
  namespace: z.string(),
  creationKey: z.string(),
  runId: z.string().nullable(),
  fingerprint: z.string().nullable(),
  at: z.string(),
  sendWindowEnd: time,
  attemptAt: time.optional(),
  idempotencyKey: z.string(),
  idempotency: z.looseObject({ header: z.string(), lastSendAt: time }).optional(),
  payer: z.string().optional(),
  ancestors: z.array(z.string()).optional(),
});
const fence = z.looseObject({ v: z.literal(1), kind: z.literal('fence'), nonce: z.string(), at: z.string() });
/** The fields that decisions depend on; all others are passed on as written. */
const answer = z
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
const outcome = z.looseObject({
  v: z.literal(1),
  nonce: z.string(),
  at: z.string(),
  answer,
});
const resolution = z.looseObject({
  v: z.literal(1),
  decision: z.enum(['adopt', 'declareLost', 'resubmit']),
  by: z.string(),
  reason: z.string(),
  at: z.string(),
  answer: answer.nullable(),
});
/** What a removal leaves in the key before it begins: the claims that it has judged, and when. */
const removal = z.object({ v: z.literal(1), at: z.string(), nonces: z.array(z.string()) });
const place = z.looseObject({ namespace: z.string(), creationKey: z.string(), sendAttempt: z.number() });
const indexEntry = z.looseObject({
  v: z.literal(1),
  creationKey: z.string(),
  video: task,
});

/** A record that cannot be read stops the caller: guessing its content could spend money twice. */
export class JournalRecordError extends Error {
  override readonly name = 'JournalRecordError';
}

export const parseIdentity = (text: string): z.infer<typeof identity> =>
  parseRecord(identity, text, 'identity');
export const parseClaim = (text: string): Claim =>
  parseRecord(z.union([intent, fence]), text, 'claim') as unknown as Claim;
export const parseOutcome = (text: string): OutcomeRecord =>
  parseRecord(outcome, text, 'outcome') as unknown as OutcomeRecord;
export const parseResolution = (text: string): Resolution =>
  parseRecord(resolution, text, 'decision') as unknown as Resolution;
export const parseIndexEntry = (text: string): TaskIndexEntry =>
  parseRecord(indexEntry, text, 'task index entry') as unknown as TaskIndexEntry;

export const parseRemoval = (text: string): z.infer<typeof removal> =>
  parseRecord(removal, text, 'note of a removal');

/** Parses a record; throws a {@link JournalRecordError} when it does not have this shape. */
export function parseRecord<T>(schema: z.ZodType<T>, text: string, what: string): T {
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
export function parsePlace(text: string): SendAttemptKey | undefined {
  try {
    const { namespace, creationKey, sendAttempt } = place.parse(JSON.parse(text));
    return { namespace, creationKey, sendAttempt };
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** This package writes no field `__proto__`: a record with one has another origin. */
function foreignField(): never {
  throw new SyntaxError('A field of that name is refused.');
}
