import { z } from 'zod';
import { type OutcomeRecord, type Slot, type TaskIndexEntry } from '../domain/create-journal';

const identity = z.object({ v: z.literal(1), journalId: z.string().min(1) });

const intent = z.looseObject({
  v: z.literal(1),
  kind: z.literal('intent'),
  nonce: z.string(),
  fingerprint: z.string(),
  at: z.string(),
  sendWindowEnd: z.string(),
});
const fence = z.looseObject({ v: z.literal(1), kind: z.literal('fence'), nonce: z.string(), at: z.string() });
const outcome = z.looseObject({
  v: z.literal(1),
  nonce: z.string(),
  at: z.string(),
  answer: z.looseObject({ outcome: z.string(), epoch: z.number() }),
});
const indexEntry = z.looseObject({
  v: z.literal(1),
  creationKey: z.string(),
  video: z.looseObject({ taskId: z.string(), account: z.string() }),
});

/** A record that cannot be read stops the caller: guessing what a journal says is how money is spent twice. */
export class JournalRecordError extends Error {
  override readonly name = 'JournalRecordError';
}

export const parseIdentity = (text: string): { journalId: string } => parse(identity, text, 'identity');
export const parseSlot = (text: string): Slot =>
  parse(z.union([intent, fence]), text, 'slot') as unknown as Slot;
export const parseOutcome = (text: string): OutcomeRecord =>
  parse(outcome, text, 'outcome') as unknown as OutcomeRecord;
export const parseIndexEntry = (text: string): TaskIndexEntry =>
  parse(indexEntry, text, 'task index entry') as unknown as TaskIndexEntry;

function parse<T>(schema: z.ZodType<T>, text: string, what: string): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new JournalRecordError(`The journal holds a ${what} that is no JSON; nothing is sent on its word.`);
  }
  const read = schema.safeParse(json);
  if (!read.success) {
    throw new JournalRecordError(
      `The journal holds a ${what} of an unknown version or shape; nothing is sent on its word.`,
    );
  }
  return read.data;
}
