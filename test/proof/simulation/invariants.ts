import { type Observations, type Send } from './observations';

export type InvariantName = (typeof INVARIANTS)[number]['name'];

interface Invariant {
  readonly name: string;
  /** What broke it; nothing when it holds. */
  readonly broken: (observations: Observations, maxSkewMs: number) => readonly string[];
}

const by = <T extends { readonly key: string }>(all: readonly T[], key: string): readonly T[] =>
  all.filter((one) => one.key === key);

/** What must be true after every schedule (failure model: The log). */
export const INVARIANTS = [
  {
    name: 'accepted without authorisation',
    broken: (observations) =>
      [...new Set(observations.accepted.map(({ send }) => send.key))].flatMap((key) => {
        const accepted = observations.accepted.filter(({ send }) => send.key === key).length;
        const allowed = 1 + by(observations.authorised, key).length;
        return accepted > allowed ? [`${key}: ${accepted} accepted, ${allowed} allowed`] : [];
      }),
  },
  {
    name: 'second sends from one place of a log',
    broken: ({ sends }) => {
      const seen = new Map<string, string | null>();
      return sends.flatMap(({ key, place, journal, idempotencyKey }) => {
        // A repetition whose intent was written, and whose first request never left, is known by its key alone.
        const name = place < 0 ? `${idempotencyKey}` : `${key}#${place} of journal ${journal}`;
        const before = seen.get(name);
        // One key that the service honours is one purchase, however often it comes.
        if (before !== undefined && (before === null || before !== idempotencyKey))
          return [`two sends of ${name}`];
        seen.set(name, idempotencyKey);
        return [];
      });
    },
  },
  {
    name: 'sends before Retry-After',
    broken: (observations, maxSkewMs) =>
      // What the service asks of a repetition no record keeps (docs/adr/0017); test/domain/same-key shows its own run wait.
      observations.refusals
        .filter(({ ofRepetition, mayBeRepeated, heard }) => !ofRepetition && (heard || !mayBeRepeated))
        .flatMap((refusal) =>
          by(observations.sends, refusal.key)
            // What was recorded is lost with its journal.
            .filter(({ journal }) => journal === refusal.journal)
            .filter(({ at }) => at > refusal.at && at < refusal.until - 2 * maxSkewMs)
            // Two senders of one key do not hear of each other in the middle of an attempt.
            .filter(({ isRepetition, startedAt }) => !isRepetition || startedAt > refusal.at)
            .filter(
              ({ at }) =>
                !by(observations.authorised, refusal.key).some((one) => one.at > refusal.at && one.at <= at),
            )
            .map(
              ({ at, place }) =>
                `the send at ${place} was made ${refusal.until - at} ms before HTTP ${refusal.status} allowed it`,
            ),
        ),
  },
  {
    name: 'results of another request handed out',
    broken: ({ told, accepted, kept, notes }) =>
      told.flatMap(({ answer, prompt, key }) => {
        if (answer.outcome !== 'created') return [];
        const task = accepted.find(({ taskId }) => taskId === answer.video.taskId);
        if (task === undefined) return [`${answer.video.taskId} was never accepted`];
        // Which request a call had that stands in a journal after it was lost, nobody can tell.
        return (task.send.prompt === prompt || kept + notes > 0) && task.send.key === key
          ? []
          : [`${task.taskId} is of ${task.send.prompt}`];
      }),
  },
  {
    name: 'called free although a send of its own was accepted',
    broken: ({ told, accepted, authorised }) =>
      told.flatMap(({ answer, runIds, key }) => {
        // Somebody knew of the send of unknown fate, and decided.
        if (by(authorised, key).length > 0) return [];
        const free =
          (answer.outcome === 'rejected' && answer.reason !== 'declared_lost') ||
          (answer.outcome === 'cancelled' && !answer.mayBeOwed);
        const own = accepted.filter(({ send }) => runIds.includes(send.runId));
        return free && own.length > 0
          ? [`${own.map(({ taskId }) => taskId).join()} told as ${answer.outcome}`]
          : [];
      }),
  },
  {
    name: 'called unsent although it was sent',
    broken: ({ sends, fenced }) =>
      sends
        // A repetition is a send of the intent that stands.
        .filter(({ sender, isRepetition }) => fenced.has(sender) && !isRepetition)
        .map(({ key, place }) => `the send of ${key} at ${place}`),
  },
  {
    name: 'schedules without an end',
    broken: ({ failures }) => failures,
  },
] as const satisfies readonly Invariant[];

/** Ids of the tasks that were created under a key. */
export function idsIn(recorded: Observations['recorded'], key: string): readonly string[] {
  return recorded.flatMap(({ key: of, record: { answer } }) =>
    of === key && answer.outcome === 'created' ? [answer.video.taskId] : [],
  );
}

/** A recorded id is never lost, and what may have been accepted is never bought again by asking once more. */
export function auditBroken(observations: Observations, audit: Audit): readonly string[] {
  const { key, prompt, answer, held, sends } = audit;
  const problems: string[] = [];
  const recorded = idsIn(observations.recorded, key);
  if (recorded.length > 0) {
    const got = answer?.outcome === 'created' ? answer.video.taskId : (answer?.outcome ?? 'nothing');
    const adopted = by(observations.adopted, key).map(({ taskId }) => taskId);
    if (![...recorded, ...held, ...adopted].includes(got))
      problems.push(`${recorded.join()} of ${prompt} is recorded, and asking gives ${got}`);
  }
  const decided = observations.decided.has(key) || by(observations.authorised, key).length > 0;
  const before = observations.accepted.filter(({ send }) => send.key === key && !sends.includes(send)).length;
  if (before > 0 && !decided) {
    if (sends.length > 0) problems.push(`asking again sent again`);
    if (answer?.outcome !== 'created' && answer?.outcome !== 'unconfirmed')
      problems.push(`a task exists, and asking gives ${answer?.outcome ?? 'nothing'}`);
  }
  return problems;
}

export interface Audit {
  readonly key: string;
  /** Ids that the journal holds under the key. */
  readonly held: readonly string[];
  readonly prompt: string;
  readonly answer: Observations['told'][number]['answer'] | undefined;
  readonly sends: readonly Send[];
}
