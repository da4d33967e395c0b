/**
 * The Temporal server's time in an activity attempt, in milliseconds since the Unix epoch: when the server scheduled the
 * attempt, and what has passed here since then. It is late by the wait for this worker, but no clock of this worker can
 * make it wrong: it is for times that a workflow or the server has set.
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

/** Times of an answer, by the clock of the worker that gave it (ISO 8601). */
interface AnswerTimes {
  readonly notBefore?: string | null;
  readonly heldUntil?: string;
  readonly sameKeyUntil?: string;
}

const TIMES = ['notBefore', 'heldUntil', 'sameKeyUntil'] as const satisfies readonly (keyof AnswerTimes)[];

/** Adds to an answer that names a time when it was given, so that a workflow can tell how far away that time is. */
export function givenAt<Answer extends object>(answer: Answer, now: number): Answer {
  const times: AnswerTimes = answer;
  const named = TIMES.some((name) => typeof times[name] === 'string');
  return named ? { ...answer, givenAt: new Date(now).toISOString() } : answer;
}

/**
 * The answer with its times by the clock of the workflow: the clock of a worker may be wrong, and what is two seconds
 * away there is two seconds away here.
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

/** A record of the future shows that one of two clocks is wrong: its Retry-After begins when it is read (C8.7). */
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
