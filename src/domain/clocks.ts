/**
 * Returns a clock that approximates the Temporal server's time during an activity attempt, in milliseconds since the
 * Unix epoch. It adds the locally elapsed time to the time when the server scheduled the attempt. The clock lags by
 * however long the attempt waited for this worker, but does not depend on this worker's clock. Use it for comparisons
 * with times that a workflow or the server has set.
 * @param info the activity's info
 * @param now a monotonic clock in milliseconds, such as `performance.now`
 */
export function attemptClock(
  { currentAttemptScheduledTimestampMs }: { readonly currentAttemptScheduledTimestampMs: number },
  now: () => number,
): () => number {
  const began = now();
  return () => currentAttemptScheduledTimestampMs + now() - began;
}

/** Times in an answer (ISO 8601), according to the answering worker's clock. */
interface AnswerTimes {
  readonly notBefore?: string | null;
  readonly heldUntil?: string;
  readonly sameKeyUntil?: string;
}

const TIMES = ['notBefore', 'heldUntil', 'sameKeyUntil'] as const satisfies readonly (keyof AnswerTimes)[];

/**
 * Adds the current time to an answer that contains a time, so that a workflow can compute how far away that time is.
 */
export function givenAt<Answer extends object>(answer: Answer, now: number): Answer {
  const times: AnswerTimes = answer;
  const named = TIMES.some((name) => typeof times[name] === 'string');
  return named ? { ...answer, givenAt: new Date(now).toISOString() } : answer;
}

/**
 * Converts an answer's times to the workflow's clock. The worker's clock may be wrong, but a time that is two seconds
 * away on its clock is also two seconds away on the workflow's.
 * @param now workflow time, in milliseconds since the Unix epoch
 */
export function byClockOf<Answer extends object>(now: number, answer: Answer): Answer {
  const { givenAt: given, ...rest } = answer as AnswerTimes & { readonly givenAt?: string };
  if (given === undefined) return answer;
  const shiftMs = now - Date.parse(given);
  const shifted = TIMES.flatMap((name) => {
    const time = rest[name];
    return typeof time === 'string' ? [[name, isoOf(Date.parse(time) + shiftMs)]] : [];
  });
  return { ...rest, ...Object.fromEntries(shifted) } as Answer;
}

/**
 * Corrects a record that is dated in the future, which means that one of two clocks is wrong. Its Retry-After is then
 * counted from the time at which the record is read (C8.7).
 */
export function notOfTheFuture<Dated extends { readonly at: string; readonly answer: object }>(
  record: Dated,
  now: number,
): Dated {
  const at = Date.parse(record.at);
  return at > now ? { ...record, answer: byClockOf(now, givenAt(record.answer, at)) } : record;
}

/** The latest time that a date can represent. */
const LATEST = 8.64e15;

/**
 * Formats a time as ISO 8601.
 * @param ms milliseconds since the Unix epoch, clamped to the latest time that a date can represent
 */
export function isoOf(ms: number): string {
  return new Date(Math.min(ms, LATEST)).toISOString();
}
