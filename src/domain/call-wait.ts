import { type CreateStep } from './create-once';
import { type CreateVideoAnswer, type RejectReason } from './paid-call';

/** A paid call that is not sent for now: what the query `waits` tells, for a call and for a campaign alike. */
export interface CallWait {
  /** What stands in its way, and since when where that is known: sentences for a person. */
  readonly why: string;
  /** When it is tried next, in milliseconds since the Unix epoch of workflow time. */
  readonly until: number;
  /** What it is rejected for at its start limit, where a person has to mend something; else null. */
  readonly reason: RejectReason | null;
  /** Whose call it is, where a worker knew that. */
  readonly account: string | null;
}

/** The wait that an answer of a paid activity led to. */
export function callWait(
  { why, until }: Extract<CreateStep, { do: 'wait' }>,
  answer: CreateVideoAnswer,
): CallWait {
  const reason = 'reason' in answer ? (answer.reason ?? null) : null;
  return { why, until, reason, account: answer.account };
}
