/**
 * Returns the Temporal server's time in an activity attempt, in milliseconds since the Unix epoch: the time at which
 * the server scheduled the attempt, plus the time that has passed here since. It is late by the wait for this worker,
 * but independent of this worker's clock. Use it for times that a workflow or the server has set.
 * @param info of the activity
 * @param now milliseconds of a clock that never steps, such as `performance.now`
 */
export function attemptClock(
  { currentAttemptScheduledTimestampMs }: { readonly currentAttemptScheduledTimestampMs: number },
  now: () => number,
): () => number {
  const began = now();
  return () => currentAttemptScheduledTimestampMs + now() - began;
}

/** Times in an answer, by the answering worker's clock (ISO 8601). */
interface AnswerTimes {
  readonly notBefore?: string | null;
  readonly heldUntil?: string;
  readonly sameKeyUntil?: string;
}

const TIMES = ['notBefore', 'heldUntil', 'sameKeyUntil'] as const satisfies readonly (keyof AnswerTimes)[];

/** If an answer contains a time, adds when it was given, so that a workflow can compute how far away that time is. */
export function givenAt<Answer extends object>(answer: Answer, now: number): Answer {
  const times: AnswerTimes = answer;
  const named = TIMES.some((name) => typeof times[name] === 'string');
  return named ? { ...answer, givenAt: new Date(now).toISOString() } : answer;
}

/**
 * Converts an answer's times to the workflow's clock. The worker's clock may be wrong, but what is two seconds away
 * there is two seconds away here.
 * @param now of the workflow, in milliseconds since the Unix epoch
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
 * A record from the future shows that one of two clocks is wrong. Its Retry-After then begins when it is read (C8.7).
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

/** @param ms since the Unix epoch; a later time than a date can represent is reduced to that one */
export function isoOf(ms: number): string {
  return new Date(Math.min(ms, LATEST)).toISOString();
}
