import { mayBeAlive, timeLeftRepeated } from 'temporal-media/internal/activities/send-window';
import { estimateOfSend, type LogEntry, type Send } from 'temporal-media/internal/domain/log-entries';
import { isUnknown, stateOf } from 'temporal-media/internal/domain/paid-log';
import { idArgument } from 'temporal-media/internal/domain/terminal-text';
import { type CreateJournal } from 'temporal-media/stores';
import { makeNotice, type Notice, type NoticePlace } from './notice';
import { type CollectorState } from './workflows';

/** Logs that one round reads. This bounds the load on the journal, whatever its size. */
const LOGS_PER_ROUND = 200;
/** Pause before the journal is read from its beginning again, in rounds. */
const ROUNDS_BETWEEN = 4;

interface Reading {
  readonly place: NoticePlace;
  readonly journal: CreateJournal;
  readonly post: (notice: Notice) => Promise<void>;
  /** Called for every send of the namespace that is read. */
  readonly onSend: (send: Send) => void;
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
}

/**
 * Returns the notices about sends in a log that wait for a decision: those that `temporal-media unconfirmed` lists,
 * except a campaign's, which the campaign counts.
 */
export function noticesOfLog(place: NoticePlace, log: readonly LogEntry[], now: number): readonly Notice[] {
  const state = stateOf(log);
  return state.sends.flatMap((send, at) => {
    const { sent } = send;
    const isLeft = state.open === at && !mayBeAlive(state, now);
    if (sent.namespace !== place.namespace || !(isUnknown(send) || isLeft)) return [];
    if ((sent.kind === 'intent' && sent.payer !== undefined) || timeLeftRepeated(send, now) > 0) return [];
    return [noticeOfSend(place, send)];
  });
}

function noticeOfSend(place: NoticePlace, send: Send): Notice {
  const { creationKey, nonce: sendId, operation, account, model, at, workflowId } = send.sent;
  const type = send.answer?.answer.outcome === 'results_lost' ? 'call.results_lost' : 'call.unconfirmed';
  const { microUnits = null, currency = null } = estimateOfSend(send) ?? {};
  return makeNotice(place, type, [creationKey, sendId], Date.parse(send.answer?.at ?? at), {
    ...{ id: creationKey, sendId, workflowId, operation, account, model, sentAt: at },
    estimate: { microUnits, currency },
    command: `temporal-media unconfirmed show ${idArgument(creationKey)}`,
  });
}

/** Returns the account whose standing refusal ended a call; undefined if the refusal was only of this call. */
export function refusedAccount(log: readonly LogEntry[]): string | undefined {
  const answer = stateOf(log).sends.at(-1)?.answer?.answer;
  const isStanding = answer?.outcome === 'rejected' && answer.standing === 'account';
  return isStanding ? (answer.account ?? undefined) : undefined;
}

/**
 * Reads on in the journal, and from its beginning once it was read. It is the only place that knows all calls that wait
 * for a person, also those of workflows without search attributes, and all values of labels.
 * @returns where the next round continues
 */
export async function readOn(
  { place, journal, post, onSend, everyMs }: Reading,
  { journal: after, journalAt }: CollectorState,
  now: number,
): Promise<Pick<CollectorState, 'journal' | 'journalAt'>> {
  if (after === null && now < journalAt) return { journal: after, journalAt };
  const { logs, next } = await journal.scan(after, LOGS_PER_ROUND);
  for (const log of logs) {
    for (const notice of noticesOfLog(place, log, now)) await post(notice);
    for (const send of stateOf(log).sends) if (send.sent.namespace === place.namespace) onSend(send);
  }
  return { journal: next, journalAt: after === null ? now + ROUNDS_BETWEEN * everyMs : journalAt };
}
