/** What a paid activity reports to the server before its request can leave, and while it runs (docs/adr/0015). */
export interface SenderHeartbeat {
  /** Nonce of the intent under which it sends; null before. */
  readonly intent: string | null;
  readonly taskId?: string;
}

/** The same for a group of creates: one entry per row, by index. */
export interface GroupHeartbeat {
  readonly intents: readonly (string | null)[];
  readonly taskIds: readonly (string | null)[];
}

/**
 * Prefix of the name of an intent that may not exist. A heartbeat that may arrive late must not deny that there is an
 * intent. The rest is unique to the attempt, because decisions name the send that they are about.
 */
export const PERHAPS = 'perhaps:';

/** What is known about an activity that returned no answer. */
export interface SenderTrace {
  /** Names the activity in the log of its key, in all of its tries. */
  readonly sender: string;
  /** The intent named in the last heartbeat; null if none. */
  readonly announced: string | null;
  /** The task named in the reply to that send, if a heartbeat reported it. */
  readonly taskId?: string;
  /** ISO 8601 time at which the activity was scheduled, or earlier. */
  readonly scheduledAt: string;
}

/** Returns the intent named in the details of an attempt's last heartbeat; null if none. @param index of a row */
export const announcedIn = (details: unknown, index?: number): string | null =>
  namedIn(details, 'intent', index);

/** Returns the task named in the details; null if none. A task proves that the reply was read. */
export const taskIdIn = (details: unknown, index?: number): string | null =>
  namedIn(details, 'taskId', index);

function namedIn(details: unknown, field: 'intent' | 'taskId', index: number | undefined): string | null {
  if (typeof details !== 'object' || details === null) return null;
  const said = details as Partial<SenderHeartbeat & GroupHeartbeat>;
  const own: unknown = index === undefined ? said[field] : said[`${field}s`]?.[index];
  return typeof own === 'string' ? own : null;
}

/**
 * Returns why an announced send has an unknown outcome if this journal does not contain it. Either the journal was
 * replaced or restored from an older copy, or the lost attempt's last heartbeat did not say whether it had started to
 * send.
 */
export function causeOfUnseen(announced: string | null): 'worker_lost' | 'journal_changed' {
  return announced?.startsWith(PERHAPS) === true ? 'worker_lost' : 'journal_changed';
}
