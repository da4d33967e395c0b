import { stat } from 'node:fs/promises';
import { type SandboxRequest, type SandboxTask } from '../../../packages/sandbox/src';
import { type VideoOutcome } from '../../../src/domain';
import { type JournalKey, type LogEntry, type Send } from '../../../src/domain/log-entries';
import { stateOf } from '../../../src/domain/paid-log';
import { fileOfRecord } from '../../../src/stores/journal/file-journal';
import { entryName, keyPrefix } from '../../../src/stores/journal/records';
import { journalAt, STORES } from '../../support/store-places';

/** An entry of a log, and when it was written: an entry says when it was made, before that. */
export interface WrittenEntry {
  readonly entry: LogEntry;
  readonly writtenAt: number;
}

/** Everything that was recorded under a creation key. */
export async function readLog(
  root: string,
  namespace: string,
  creationKey: string,
): Promise<readonly WrittenEntry[]> {
  const key = { namespace, creationKey };
  const entries = await (await journalAt(root)).read(key);
  return Promise.all(
    entries.map(async (entry, n) => ({ entry, writtenAt: await writtenAtOf(root, key, n, entry.at) })),
  );
}

/** An entry says when it was made; its file says when it was written. */
async function writtenAtOf(root: string, key: JournalKey, n: number, at: string): Promise<number> {
  if (STORES !== 'files') return Date.parse(at);
  return (await stat(fileOfRecord(root, entryName(keyPrefix(key), n)))).mtimeMs;
}

/** One word for each send and each fence of a log: what the answer of a send says, or that it has none. */
export function wordsOf(log: readonly LogEntry[]): string[] {
  const { sends } = stateOf(log);
  const wordOf = (nonce: string): string | undefined =>
    sends.find(({ sent }) => sent.nonce === nonce)?.answer?.answer.outcome;
  return log.flatMap((entry) => {
    if (entry.kind === 'fence') return ['fence'];
    return entry.kind === 'intent' || entry.kind === 'lost' ? [wordOf(entry.nonce) ?? entry.kind] : [];
  });
}

/** Whether a log has an intent without an answer. */
export const hasOpenIntent = (log: readonly LogEntry[]): boolean => stateOf(log).open !== null;

/** What is written in the last moments of the window may be there too late. */
const WRITE_MS = 2_000;

/**
 * Task ids that a worker read in a reply and recorded while somebody still waited for them. One that is recorded after
 * the send window is in the journal all the same: a person who looks into the unconfirmed create finds it there.
 */
export function recordedTaskIds(log: readonly WrittenEntry[]): string[] {
  const { sends } = stateOf(log.map(({ entry }) => entry));
  return log.flatMap(({ entry, writtenAt }) => {
    if (entry.kind !== 'answer' || entry.answer.outcome !== 'created') return [];
    const sent = sends.find((send) => send.sent.nonce === entry.nonce)?.sent;
    const late = sent?.kind === 'intent' && writtenAt > Date.parse(sent.sendWindowEnd) - WRITE_MS;
    return late ? [] : [entry.answer.video.taskId];
  });
}

/** Intents that were written although an earlier send of the key was of unknown fate: a create sent again by itself. */
export function sentAgainUnproved(log: readonly LogEntry[]): number {
  const isUnproved = ({ answer, decision }: Send): boolean =>
    decision === null && (answer === null || answer.answer.outcome === 'unconfirmed');
  return log.filter((entry, n) => entry.kind === 'intent' && stateOf(log.slice(0, n)).sends.some(isUnproved))
    .length;
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
