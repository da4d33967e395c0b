import { type LogEntry } from 'temporal-media/internal/domain/log-entries';
import { idArgument } from 'temporal-media/internal/domain/terminal-text';
import { type CollectRound, readOrGiveUp } from './collect-round';
import { noticesOfLog, refusedAccount } from './journal-notices';
import { campaignNotices } from './money-notices';
import { fieldOf, makeNotice, type Notice, numbersIn, plainId, plainNumber, plainWord } from './notice';

/** An execution that has closed. */
export interface Ended {
  readonly id: string;
  readonly runId: string;
  readonly kind: string;
  /** Temporal's status. */
  readonly status: string;
  readonly closedAt: number;
  /** What it returned; undefined if nothing, or if it cannot be read here. */
  readonly result: unknown;
}

/** Posts all notices about an execution that has closed. */
export async function postEnded(round: CollectRound, ended: Ended): Promise<void> {
  if (ended.kind === 'campaign') for (const notice of ofCampaign(round, ended)) await round.post(notice);
  else await postCall(round, ended);
}

async function postCall(round: CollectRound, ended: Ended): Promise<void> {
  const { place, now } = round;
  const { id, runId, kind, status, closedAt, result } = ended;
  const key = fieldOf(result, 'creationKey');
  const outcome = plainWord(fieldOf(result, 'outcome'));
  const reason = plainWord(fieldOf(result, 'reason'));
  const video = fieldOf(result, 'video');
  const facts = {
    ...{ id, runId, kind, status, outcome, reason, creationKey: plainId(key), cost: costOf(result) },
    ...{ taskId: plainId(fieldOf(video, 'taskId')), account: plainId(fieldOf(video, 'account')) },
    command: `temporal-media status ${idArgument(id)}`,
  };
  await round.post(makeNotice(place, 'call.ended', [id, runId], closedAt, facts));
  const isOpen = outcome === 'unconfirmed' || outcome === 'results_lost';
  if (!isOpen && facts.cost.state === 'needs_review')
    await round.post(makeNotice(place, 'call.review', [id, runId], closedAt, facts));
  const isRefused = outcome === 'rejected' && (reason === 'credentials' || reason === 'quota');
  if (!isOpen && !isRefused) return;
  // Last, because a journal that is down makes the next round try again.
  const log = await readOrGiveUp(round, closedAt, () => logOf(round, key));
  const account = isRefused && log !== undefined ? refusedAccount(log) : undefined;
  if (account !== undefined && reason !== null) round.closed(account, reason);
  if (!isOpen) return;
  if (log !== undefined && log.length > 0) {
    for (const { notice } of noticesOfLog(place, log, now)) await round.post(notice);
    return;
  }
  // The identity that the journal's scan also gives it.
  const sendId = plainId(fieldOf(fieldOf(result, 'evidence'), 'sendId'));
  const named = typeof key === 'string' && sendId !== null ? [key, sendId] : undefined;
  // A journal that cannot be read may name the send later. One without the log never does.
  const about = named ?? (log === undefined ? undefined : [id, runId]);
  if (about !== undefined)
    await round.post(makeNotice(place, `call.${outcome}`, about, closedAt, { ...facts, sendId }));
}

/** Returns the log of a call; empty if no journal contains it. */
async function logOf(
  { journal, place: { namespace } }: CollectRound,
  creationKey: unknown,
): Promise<readonly LogEntry[]> {
  if (typeof creationKey !== 'string') return [];
  return (await (await journal())?.read({ namespace, creationKey })) ?? [];
}

function costOf(result: unknown) {
  const billing = fieldOf(result, 'billing');
  return {
    state: plainWord(fieldOf(billing, 'state')),
    microUnits: plainNumber(fieldOf(billing, 'estimate')),
    currency: plainWord(fieldOf(billing, 'currency')),
  };
}

function ofCampaign(
  { place, now }: CollectRound,
  { id, runId, status, closedAt, result }: Ended,
): readonly Notice[] {
  const [counts, money] = [numbersIn(fieldOf(result, 'counts')), numbersIn(fieldOf(result, 'money'))];
  const currency = plainWord(fieldOf(result, 'currency'));
  const facts = {
    ...{ campaign: id, runId, status, outcome: plainWord(fieldOf(result, 'outcome')), counts },
    cost: { ...money, currency },
    command: `temporal-media campaign report ${idArgument(id)}`,
  };
  const notices = [makeNotice(place, 'campaign.ended', [id, runId], closedAt, facts)];
  if ((money['needsReview'] ?? 0) > 0)
    notices.push(makeNotice(place, 'call.review', [id, runId], closedAt, facts));
  return [...notices, ...campaignNotices(place, id, result, now)];
}
