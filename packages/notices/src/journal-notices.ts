import { log } from '@temporalio/activity';
import { type Client } from '@temporalio/client';
import { mayBeAlive, timeLeftRepeated } from 'temporal-media/internal/activities/send-window';
import { lenientClient } from 'temporal-media/internal/client/read-payloads';
import { describeWorkflow } from 'temporal-media/internal/client/workflow-handle';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { campaignOfBatch } from 'temporal-media/internal/domain/campaign/budget-book';
import { estimateOfSend, type LogEntry, type Send } from 'temporal-media/internal/domain/log-entries';
import { WORKFLOW } from 'temporal-media/internal/domain/names';
import { isUnknown, stateOf } from 'temporal-media/internal/domain/paid-log';
import { idArgument } from 'temporal-media/internal/domain/terminal-text';
import { type CreateJournal } from 'temporal-media/stores';
import { fieldOf, makeNotice, type Notice, type NoticePlace } from './notice';
import { type CollectorState } from './workflows';

/** Logs that one round reads. This bounds the load on the journal, whatever its size. */
const LOGS_PER_ROUND = 200;
/** Pause before the journal is read from its beginning again, in rounds. */
const ROUNDS_BETWEEN = 4;

interface Reading {
  readonly place: NoticePlace;
  readonly journal: CreateJournal;
  readonly post: (notice: Notice) => Promise<void>;
  readonly client: Client;
  readonly beat: () => void;
  /** Called for every send of the namespace that is read. */
  readonly onSend: (send: Send) => void;
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
  readonly now: number;
}

/** A notice about a send that waits for a decision. */
interface WaitingSend {
  readonly notice: Notice;
  /** Workflow id of the campaign's batch that made it; undefined for a single call. */
  readonly payer: string | undefined;
}

/** Returns the sends in a log that wait for a decision: those that `temporal-media unconfirmed` lists. */
export function noticesOfLog(
  place: NoticePlace,
  log: readonly LogEntry[],
  now: number,
): readonly WaitingSend[] {
  const state = stateOf(log);
  return state.sends.flatMap((send, at) => {
    const { sent } = send;
    const isLeft = state.open === at && !mayBeAlive(state, now);
    if (sent.namespace !== place.namespace || !(isUnknown(send) || isLeft)) return [];
    if (timeLeftRepeated(send, now) > 0) return [];
    return [{ notice: noticeOfSend(place, send), payer: sent.kind === 'intent' ? sent.payer : undefined }];
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
  { place, journal, post, onSend, everyMs, client, now, beat }: Reading,
  { journal: after, journalAt }: CollectorState,
): Promise<Pick<CollectorState, 'journal' | 'journalAt'>> {
  if (after === null && now < journalAt) return { journal: after, journalAt };
  const { logs, next } = await pageAfter(journal, after, beat);
  const campaigns = new Map<string, Promise<boolean>>();
  const isCounted = (campaign: string): Promise<boolean> => {
    const known = campaigns.get(campaign) ?? countsItsRows(client, campaign);
    campaigns.set(campaign, known);
    return known;
  };
  for (const entries of logs) {
    for (const { notice, payer } of noticesOfLog(place, entries, now))
      if (payer === undefined || !(await isCounted(campaignOfBatch(payer)))) await post(notice);
    for (const send of stateOf(entries).sends) if (send.sent.namespace === place.namespace) onSend(send);
  }
  return { journal: next, journalAt: after === null ? now + ROUNDS_BETWEEN * everyMs : journalAt };
}

/** Reads a page. Around a damaged log, reads one by one, so that this log keeps only its own calls from being reported. */
async function pageAfter(
  journal: CreateJournal,
  after: string | null,
  beat: () => void,
): Promise<{ readonly logs: readonly (readonly LogEntry[])[]; readonly next: string | null }> {
  try {
    return await journal.scan(after, LOGS_PER_ROUND);
  } catch (error) {
    pastDamaged(error);
  }
  const logs: (readonly LogEntry[])[] = [];
  let next = after;
  for (let read = 0; read === 0 || (read < LOGS_PER_ROUND && next !== null); read += 1) {
    beat();
    try {
      const page = await journal.scan(next, 1);
      logs.push(...page.logs);
      ({ next } = page);
    } catch (error) {
      next = pastDamaged(error);
      log.warn('Notices cannot read a log of the journal, and continue with the next one');
    }
  }
  return { logs, next };
}

/** Returns where a scan continues after a damaged log. Rethrows any other error. */
function pastDamaged(error: unknown): string {
  const next = fieldOf(error, 'next');
  if (typeof next !== 'string') throw error;
  return next;
}

/** Whether a campaign reports its rows: by its state while it is open, or by its result. */
async function countsItsRows(client: Client, workflowId: string): Promise<boolean> {
  try {
    const found = await describeWorkflow(lenientClient(client), workflowId);
    if (found?.type !== WORKFLOW.runCampaign) return false;
    return found.closeTime === undefined || found.status.name === 'COMPLETED';
  } catch (error) {
    throwBug(error);
    // A later scan looks again.
    return true;
  }
}
