import { type CreateStep } from './create-once';
import { type CreateVideoAnswer } from './paid-call';
import { type RejectReason } from './failure-table';

/** A paid call that is not sent for now, as the query `waits` reports it for single calls and campaigns. */
export interface CallWait {
  /** Why it waits, and since when where that is known, in sentences for a person. */
  readonly why: string;
  /** When it is tried next, in milliseconds since the Unix epoch of workflow time. */
  readonly until: number;
  /** Reason of the rejection at its start limit, where a person has to mend something; else null. */
  readonly reason: RejectReason | null;
  /** Account of the call, where a worker resolved it. */
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
