import { randomUUID } from 'node:crypto';
import { activityInfo, heartbeat } from '@temporalio/activity';
import {
  type CreateJournal,
  type JournalKey,
  type Resolution,
  type SlotIntent,
} from '../domain/create-journal';
import { type CreateVideoAnswer, type UnconfirmedCall } from '../domain/paid-call';
import { MAX_REQUEST_SECONDS } from '../domain/timeouts';
import { isUsableTaskId } from '../domain/video-task';
import { adoptedAnswer } from './adopted-answer';
import { journalUnavailable, retryLater } from './failures';
import { idempotencyKey } from './idempotency-key';
import { factsIn } from './intent-of';
import { claimTask, isForeign } from './task-owner';
import { type SentCreate, type TaskRecord, type TaskRecords } from './task-records';
import { writeResolution } from './write-resolution';

/** Two looks that are not this far apart are one look. */
const BETWEEN_LOOKS_MS = 60_000;
/** The reconciliation as a whole waits no longer. */
const LONGEST_REQUEST_MS = MAX_REQUEST_SECONDS * 1000;

export interface Inspection {
  readonly records: TaskRecords;
  readonly journal: CreateJournal;
  readonly key: JournalKey;
  readonly slot: SlotIntent;
  readonly unconfirmed: UnconfirmedCall;
  readonly onAbsent: 'unconfirmed' | 'resend';
}

/**
 * Looks for the task in the service's own records (failure model: The journal). Found: adopted. Absent: only two looks, at least a
 * minute apart and the second after the service's longest request time, prove anything, and what follows is the policy's.
 */
export async function inspectRecords(inspection: Inspection): Promise<CreateVideoAnswer> {
  const { unconfirmed, onAbsent } = inspection;
  const now = Date.now();
  const seen = await look(inspection);
  if (seen.found === 'task') return adoptFound(inspection, seen.taskId, now);
  if (seen.found === 'unknown') return unconfirmed;
  const absentSince = firstAbsence(unconfirmed.epoch) ?? now;
  const proofAt = Math.max(absentSince + BETWEEN_LOOKS_MS, recordsCompleteAt(inspection, absentSince));
  if (now < proofAt) {
    // The next attempt reads it from here, whichever worker makes it.
    heartbeat({ absentSince, epoch: unconfirmed.epoch });
    throw retryLater({
      class: 'waiting_for_records',
      message: 'The records of the service show no such task yet; they are looked at again.',
      delayMs: proofAt - now + 100,
    });
  }
  return onAbsent === 'resend' ? resendAbsent(inspection, now) : unconfirmed;
}

async function look({ records, journal, key, slot, unconfirmed }: Inspection): Promise<TaskRecord> {
  try {
    const seen = await records.find(sentOf(key, slot, unconfirmed));
    if (seen.found !== 'task') return seen.found === 'none' ? seen : { found: 'unknown' };
    if (!isUsableTaskId(seen.taskId)) return { found: 'unknown' };
    // A task that belongs to another key is not this one, whatever the records say.
    const owners = await journal.findTask(seen.taskId);
    return owners.some((owner) => isForeign(owner, key, slot)) ? { found: 'unknown' } : seen;
  } catch {
    return { found: 'unknown' };
  }
}

function sentOf(key: JournalKey, slot: SlotIntent, { epoch, evidence }: UnconfirmedCall): SentCreate {
  return {
    operation: slot.operation,
    ...factsIn(slot),
    bodyHash: slot.bodyHash,
    idempotencyKey: idempotencyKey(key, epoch),
    intentAt: slot.at,
    sendWindowEnd: evidence.sendWindowEnd ?? slot.sendWindowEnd,
    headers: evidence.headers,
  };
}

/** Of this very epoch: between two attempts a decision may have led to another one. */
function firstAbsence(of: number): number | undefined {
  const details = activityInfo().heartbeatDetails as { absentSince?: unknown; epoch?: unknown } | undefined;
  const { absentSince, epoch = 0 } = details ?? {};
  return typeof absentSince === 'number' && epoch === of ? absentSince : undefined;
}

function recordsCompleteAt({ records, slot, unconfirmed }: Inspection, absentSince: number): number {
  const windowEnd = Date.parse(unconfirmed.evidence.sendWindowEnd ?? slot.sendWindowEnd);
  // Sends under the same key leave no window of their own. The look comes after all of them have begun.
  const sentBy = slot.idempotency === undefined ? windowEnd : Math.max(windowEnd, absentSince);
  return sentBy + Math.min(Math.max(0, records.longestRequestMs), LONGEST_REQUEST_MS);
}

async function adoptFound(inspection: Inspection, taskId: string, now: number): Promise<CreateVideoAnswer> {
  const { journal, key, slot, unconfirmed } = inspection;
  const answer = adoptedAnswer(slot, unconfirmed.epoch, taskId, 'unknown');
  const ours = await claimTask(journal, key, slot, answer).catch(() => {
    throw journalUnavailable();
  });
  // Another key with an equal body was faster.
  if (!ours) return unconfirmed;
  const reason = 'found in the task records of the service';
  await decide(inspection, { decision: 'adopt', reason, answer }, now);
  return answer;
}

async function resendAbsent(inspection: Inspection, now: number): Promise<CreateVideoAnswer> {
  const { epoch, account, estimate } = inspection.unconfirmed;
  const reason = 'two looks into the task records of the service found no such task';
  await decide(inspection, { decision: 'resubmit', reason, answer: null }, now);
  return {
    outcome: 'not_sent',
    epoch,
    sent: true,
    account,
    estimate,
    cause: 'absent_from_records',
    epochUsed: true,
    permanent: false,
    message: 'The task records of the service show that nothing was accepted.',
  };
}

async function decide(
  { journal, key, slot, unconfirmed }: Inspection,
  made: Pick<Resolution, 'decision' | 'reason' | 'answer'>,
  now: number,
): Promise<void> {
  const resolution: Resolution = {
    v: 1,
    decisionId: randomUUID(),
    by: 'task records',
    at: new Date(now).toISOString(),
    ...made,
  };
  await writeResolution(journal, key, { epoch: unconfirmed.epoch, slot, resolution });
}
