/** What a paid activity reports to the server before its request can leave, and while it runs (docs/adr/0015). */
export interface SenderHeartbeat {
  /** Nonce of the intent under which it sends; null before. */
  readonly intent: string | null;
  readonly taskId?: string;
}

/** The same of a group of creates: one entry for each of its rows, by index. */
export interface GroupHeartbeat {
  readonly intents: readonly (string | null)[];
  readonly taskIds: readonly (string | null)[];
}

/**
 * Begins the name of an intent that may not exist: a heartbeat that may arrive late must not deny that there is one.
 * What follows is unique to the attempt, because decisions name the send that they are about.
 */
export const PERHAPS = 'perhaps:';

/** What is known of an activity that brought no answer. */
export interface SenderTrace {
  /** Names the activity in the log of its key, in all of its tries. */
  readonly sender: string;
  /** The intent that the last heartbeat named; null when there was none. */
  readonly announced: string | null;
  /** The task that the reply to that send named, where a heartbeat reported it. */
  readonly taskId?: string;
  /** ISO 8601 time at which the activity was scheduled, or earlier. */
  readonly scheduledAt: string;
}

/** The intent that the details of an attempt's last heartbeat name; null when they name none. @param index of a row */
export const announcedIn = (details: unknown, index?: number): string | null =>
  namedIn(details, 'intent', index);

/** The task that they name; null when they name none: it is proof that the reply was read. */
export const taskIdIn = (details: unknown, index?: number): string | null =>
  namedIn(details, 'taskId', index);

function namedIn(details: unknown, field: 'intent' | 'taskId', index: number | undefined): string | null {
  if (typeof details !== 'object' || details === null) return null;
  const said = details as Partial<SenderHeartbeat & GroupHeartbeat>;
  const own: unknown = index === undefined ? said[field] : said[`${field}s`]?.[index];
  return typeof own === 'string' ? own : null;
}

/**
 * Why the fate of an announced send is unknown when this journal does not have it: the journal was replaced or set back;
 * or the last heartbeat, of an attempt that was lost, did not say whether it had started to send.
 */
export function causeOfUnseen(announced: string | null): 'worker_lost' | 'journal_changed' {
  return announced?.startsWith(PERHAPS) === true ? 'worker_lost' : 'journal_changed';
}
