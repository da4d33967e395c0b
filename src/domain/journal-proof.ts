/** What an attempt of a paid activity reports to the server before its request can leave (docs/adr/0015). */
export interface SenderHeartbeat {
  readonly journalId: string;
  /** Nonce of the intent that it wrote to that journal; null before. */
  readonly intent: string | null;
}

/**
 * Begins the name of an intent that may not exist: a heartbeat that may arrive late must not deny that there is one.
 * What follows is unique to the attempt, because decisions name the send that they are about.
 */
export const PERHAPS = 'perhaps:';

/**
 * Why the fate of a call is unknown when this journal cannot prove its heartbeat: it is not the journal that was
 * named, or lacks what was named; or the last heartbeat, of an attempt that was lost, did not say whether it had
 * started to send.
 */
export function causeOfUnproved(lastHeartbeat: SenderHeartbeat | null, journalId: string): string {
  // An attempt names no journal before it knows that of its queue.
  const isOwn =
    lastHeartbeat !== null && (lastHeartbeat.journalId === journalId || lastHeartbeat.journalId === '');
  return isOwn && lastHeartbeat.intent?.startsWith(PERHAPS) === true ? 'worker_lost' : 'journal_changed';
}

/** What is known of the attempts that may have sent. */
export interface SenderTrace {
  /** The last heartbeat of an attempt; null when there was none. */
  readonly lastHeartbeat: SenderHeartbeat | null;
  /** ISO 8601 time at which the activity was scheduled, or earlier. */
  readonly scheduledAt: string;
}

/** The journal that has to prove something, and what it holds. */
export interface JournalHere {
  readonly journalId: string;
  /** Since when the queue belongs to it, in server time. */
  readonly boundSince: string;
  /** Nonces of all intents that it holds for this key. */
  readonly intents: readonly string[];
}

/**
 * Whether a send attempt that is empty in this journal proves that the earlier attempts sent nothing in it. Only the
 * journal that they named can prove it, and only while it still has what they wrote. Pure.
 */
export function provesNotSent({ lastHeartbeat, scheduledAt }: SenderTrace, here: JournalHere): boolean {
  if (lastHeartbeat === null) return Date.parse(scheduledAt) >= Date.parse(here.boundSince);
  if (lastHeartbeat.journalId !== here.journalId) return false;
  return lastHeartbeat.intent === null || here.intents.includes(lastHeartbeat.intent);
}

/** Heartbeat of a create or an image call. */
export interface SenderHeartbeatDetails extends SenderHeartbeat {
  readonly taskId?: string;
}

/** Heartbeat of a group of creates: one entry for each of its rows, by index. */
export interface GroupHeartbeatDetails {
  readonly journalId: string;
  readonly intents: readonly (string | null)[];
  readonly taskIds: readonly (string | null)[];
}

/** The sender's heartbeat in the details of an attempt's last heartbeat; null when they contain none. */
export function heartbeatOf(details: unknown, index?: number): SenderHeartbeat | null {
  if (typeof details !== 'object' || details === null) return null;
  const { journalId, intent, intents } = details as Partial<SenderHeartbeatDetails & GroupHeartbeatDetails>;
  if (typeof journalId !== 'string') return null;
  const own: unknown = index === undefined ? intent : intents?.[index];
  return { journalId, intent: typeof own === 'string' ? own : null };
}

/** The heartbeat in an answer that has to be reconciled; null when it has none. */
export function heartbeatInAnswer(answer: object): SenderHeartbeat | null {
  return (answer as { readonly heartbeat?: SenderHeartbeat }).heartbeat ?? null;
}
