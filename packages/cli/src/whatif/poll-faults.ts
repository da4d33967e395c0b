import { type PollErrorClass } from 'temporal-media';
import { type PollChange, type Timeline, type TimelineEntry } from '@temporal-media/replay';
import { type FaultAction, type FaultRule } from '@temporal-media/sandbox';
import { fieldsOf, numberOf, textOf } from '@temporal-media/replay/internal/timeline/read-value';
import { phaseOf } from 'temporal-media/internal/service/status-values';
import { type ScenarioPart } from './scenario-part';
import { outcomeType } from './outcome-type';
import { errorOf, fewerTries, retryAfter } from './service-replies';

/**
 * The answers of the polls one after the other, as rules that are used up in their order: so the faults come after what was
 * seen before them, however long anything takes here. Polls without news, and those that failed, are fewer by the speed.
 */
export function pollFaults(timeline: Timeline, speed: number): ScenarioPart {
  const faults: FaultRule[] = [];
  const notPlayed: string[] = [];
  let status: string | null = null;
  timeline.entries.forEach((entry, index) => {
    const polls = numberOf(entry.facts['polls']) ?? 0;
    if (polls === 0) return;
    if (entry.kind === 'polls') {
      const changes = changesIn(timeline.polls.changes, entry);
      status = changes.at(-1)?.status ?? status;
      faults.push(...records(status, changes, Math.ceil(polls / speed), endedBy(timeline)));
    } else if (entry.kind === 'poll_errors') {
      const played = errors(entry, polls, timeline.entries[index + 1], speed);
      if (typeof played === 'string') notPlayed.push(played);
      else faults.push(...played);
    }
  });
  return { faults: [...faults, ...endless(timeline, faults)], notPlayed };
}

const changesIn = (changes: readonly PollChange[], { at, until }: TimelineEntry): readonly PollChange[] =>
  changes.filter((change) => change.at >= at && change.at <= until);

/** Kind of the error with which the task failed. */
function endedBy({ entries }: Timeline): string {
  return textOf(entries.findLast(({ kind }) => kind === 'ended')?.facts['kind']) ?? 'unknown';
}

function records(
  status: string | null,
  changes: readonly PollChange[],
  polls: number,
  failure: string,
): readonly FaultRule[] {
  const phase = phaseOf(status ?? '');
  // The record is completed by itself.
  if (phase === 'completed') return [];
  if (phase === 'failed')
    return [{ operation: 'poll', action: { type: 'task_fails', error: errorOf(failure) } }];
  const word = phase === 'unknown' ? (status ?? 'unknown_status') : phase;
  const seen = changes.length === 0 ? [null] : changes.map(({ progress }) => progress);
  return seen.map((progress, index) => {
    const times = index === seen.length - 1 ? Math.max(1, polls - index) : 1;
    return poll({ type: 'record', patch: { status: word, progress } }, times);
  });
}

const poll = (action: FaultAction, times: number): FaultRule => ({
  operation: 'poll',
  ...(times !== 1 && { times }),
  action,
});

/** Statuses with which services say it; null where no answer of a service is the reason. */
const STATUS: { readonly [error in PollErrorClass]: number | null } = {
  rate_limited: 429,
  unavailable: 503,
  not_found: 404,
  bad_request: 400,
  credentials: 401,
  network: 0,
  unreadable: 200,
  account_not_configured: null,
  worker_unavailable: null,
  late: null,
};

function errors(
  { facts }: TimelineEntry,
  polls: number,
  next: TimelineEntry | undefined,
  speed: number,
): readonly FaultRule[] | string {
  const [name = ''] = Object.keys(fieldsOf(facts['errors']));
  const tries = fewerTries(polls, speed);
  const usual = STATUS[name as PollErrorClass] ?? null;
  if (usual === null) return `polls without an answer (${name})`;
  if (name === 'network') return [poll({ type: 'lose_reply', accepted: false, how: 'reset' }, tries)];
  if (name === 'unreadable') return [poll({ type: 'status', status: usual, raw: 'no record' }, tries)];
  const status = numberOf(facts['httpStatus']) ?? usual;
  const asked = next?.kind === 'retry_after' ? numberOf(next.facts['retryAfterMs']) : null;
  if (asked === null) return [poll({ type: 'status', status }, tries)];
  const headers = { 'retry-after': String(retryAfter(asked, speed)) };
  const last = poll({ type: 'status', status, headers }, 1);
  return polls === 1 ? [last] : [poll({ type: 'status', status }, fewerTries(polls - 1, speed)), last];
}

/** What goes on until the wait ends: a task that is not found, or one that does not end. */
function endless(timeline: Timeline, faults: readonly FaultRule[]): readonly FaultRule[] {
  const outcome = outcomeType(timeline);
  if (outcome !== 'task_unknown' && outcome !== 'still_running') return [];
  const unknown: FaultAction = { type: 'status', status: 404 };
  const running: FaultAction = { type: 'record', patch: { status: 'in_progress' } };
  const last = faults.at(-1)?.action;
  if (outcome === 'task_unknown') return [poll(unknown, 0)];
  return [poll(last?.type === 'record' ? last : running, 0)];
}
