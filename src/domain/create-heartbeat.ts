/** Heartbeat details of a paid activity, reported before its request can leave and while it runs (docs/adr/0015). */
export interface SenderHeartbeat {
  /** Nonce of the intent that the activity sends under; null before it has one. */
  readonly intent: string | null;
  readonly taskId?: string;
}

/** Heartbeat details of a group of creates, with one entry per row, by index. */
export interface GroupHeartbeat {
  readonly intents: readonly (string | null)[];
  readonly taskIds: readonly (string | null)[];
}

/**
 * Prefix that marks an intent that might not exist. A heartbeat can arrive late, so it must never say that there is no
 * intent. The rest of the name is unique to the attempt, because decisions name the send that they are about.
 */
export const PERHAPS = 'perhaps:';

/** Known facts about an activity that returned no answer. */
export interface SenderTrace {
  /** Identifies the activity in its key's log, in all of its attempts. */
  readonly sender: string;
  /** The intent named in the last heartbeat; null if there is none. */
  readonly announced: string | null;
  /** The task id in the reply to that send, if a heartbeat reported it. */
  readonly taskId?: string;
  /** When the activity was scheduled, or an earlier time, ISO 8601. */
  readonly scheduledAt: string;
}

/** Returns the intent named in an attempt's last heartbeat, or null if there is none. @param index the row's index */
export const announcedIn = (details: unknown, index?: number): string | null =>
  namedIn(details, 'intent', index);

/** Returns the task id in the heartbeat details, or null if there is none. A task id proves that the reply was read. */
export const taskIdIn = (details: unknown, index?: number): string | null =>
  namedIn(details, 'taskId', index);

function namedIn(details: unknown, field: 'intent' | 'taskId', index: number | undefined): string | null {
  if (typeof details !== 'object' || details === null) return null;
  const said = details as Partial<SenderHeartbeat & GroupHeartbeat>;
  const own: unknown = index === undefined ? said[field] : said[`${field}s`]?.[index];
  return typeof own === 'string' ? own : null;
}

/**
 * Returns the reason that an announced send has an unknown outcome, for a send that this journal does not contain.
 * Either the journal was replaced or restored from an older copy, or the lost attempt's last heartbeat did not say
 * whether the attempt had started to send.
 */
export function causeOfUnseen(announced: string | null): 'worker_lost' | 'journal_changed' {
  return announced?.startsWith(PERHAPS) === true ? 'worker_lost' : 'journal_changed';
}
