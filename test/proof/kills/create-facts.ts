import { stat } from 'node:fs/promises';
import { type JournalKey, type SendAttemptView } from '../../../src/domain/journal';
import { type VideoOutcome } from '../../../src/domain';
import { fileOfRecord } from '../../../src/journal/file-records';
import { attemptName } from '../../../src/journal/record-names';
import { journalAt, STORES } from '../../support/store-places';
import { type SandboxRequest, type SandboxTask } from '../../../src/testing/sandbox';

/** What is recorded of a send attempt, and when its outcome was written: a record says when it was made, before that. */
export type WrittenSendAttempt = SendAttemptView & { readonly writtenAt: number | null };

/** Everything that was recorded under a creation key, send attempt by send attempt. */
export async function readSendAttempts(
  root: string,
  namespace: string,
  creationKey: string,
): Promise<WrittenSendAttempt[]> {
  const journal = await journalAt(root);
  const key = { namespace, creationKey };
  const views: WrittenSendAttempt[] = [];
  for (;;) {
    const sendAttempt = views.length;
    const view = await journal.read(key, sendAttempt);
    if (view.claim === null) return views;
    const writtenAt =
      view.outcome === null ? null : await writtenAtOf(root, key, sendAttempt, view.outcome.at);
    views.push({ ...view, writtenAt });
  }
}

/** A record says when it was made; its file says when it was written. */
async function writtenAtOf(root: string, key: JournalKey, sendAttempt: number, at: string): Promise<number> {
  if (STORES !== 'files') return Date.parse(at);
  return (await stat(fileOfRecord(root, attemptName(key, sendAttempt, 'outcome')))).mtimeMs;
}

/** One word for a send attempt: what its outcome says, or what took it. */
export function sendAttemptWord({ claim, outcome }: SendAttemptView): string {
  return outcome?.answer.outcome ?? claim?.kind ?? 'open';
}

/** What is written in the last moments of the window may be there too late. */
const WRITE_MS = 2_000;

/**
 * Task ids that a worker read in a reply and recorded while somebody still waited for them. One that is recorded after
 * the send window is in the journal all the same: a person who looks into the unconfirmed create finds it there.
 */
export function recordedTaskIds(views: readonly WrittenSendAttempt[]): string[] {
  return views.flatMap(({ claim, outcome, writtenAt }) => {
    if (outcome?.answer.outcome !== 'created') return [];
    const late = claim?.kind === 'intent' && (writtenAt ?? 0) > Date.parse(claim.sendWindowEnd) - WRITE_MS;
    return late ? [] : [outcome.answer.video.taskId];
  });
}

/** Send attempts that were opened although an earlier one holds an intent without any outcome: a create sent again by itself. */
export function sentAgainUnproved(views: readonly SendAttemptView[]): number {
  const first = views.findIndex((view) => sendAttemptWord(view) === 'intent');
  return first < 0 ? 0 : views.slice(first + 1).filter(({ claim }) => claim?.kind === 'intent').length;
}

export function taskIdOf(outcome: VideoOutcome): string | undefined {
  return 'video' in outcome ? outcome.video?.taskId : undefined;
}

/** What the service itself has of one prompt. */
export interface ServiceFacts {
  readonly sends: number;
  readonly accepted: number;
  readonly taskIds: readonly string[];
}

/** Reads a service's log once, for many prompts. */
export function serviceFacts(
  creates: readonly SandboxRequest[],
  tasks: readonly SandboxTask[],
): (prompt: string) => ServiceFacts {
  const byPrompt = new Map<unknown, { sends: number; accepted: number; taskIds: string[] }>();
  const of = (prompt: unknown) => {
    const known = byPrompt.get(prompt) ?? { sends: 0, accepted: 0, taskIds: [] };
    byPrompt.set(prompt, known);
    return known;
  };
  for (const { json, accepted } of creates) {
    const facts = of((json as { prompt?: unknown } | undefined)?.prompt);
    facts.sends += 1;
    if (accepted) facts.accepted += 1;
  }
  for (const task of tasks) of(task.prompt).taskIds.push(task.id);
  return of;
}
