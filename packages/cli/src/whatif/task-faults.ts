import { type Facts, type PollChange, type Timeline, type TimelineEntry } from '@temporal-media/replay';
import { fieldsOf, numberOf, shownSpan, textOf } from '@temporal-media/replay/internal/timeline/values';
import { type FaultAction, type FaultRule } from '@temporal-media/sandbox';
import { behaviourOf } from '@temporal-media/sandbox/internal/models';
import { type ContentUnavailableReason, type PollErrorClass } from 'temporal-media';
import { phaseOf } from 'temporal-media/internal/service/video-record';
import { standIn } from './local-request';
import { errorOf, fewerTries, outcomeType, retryAfter, type ScenarioPart } from './scenario-part';

/**
 * Converts poll answers to rules that are used up in order, so that each fault follows the answers before it, no matter
 * how long the local run takes. The speed divides the number of unchanged and failed polls.
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

/** Returns the kind of error that the task failed with. */
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
  // The sandbox completes the record without a rule.
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

/** Statuses that services use for each reason. Null if the reason is not a service's answer. */
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

/** Returns a state that lasts until the wait ends: the task is not found, or it does not end. */
function endless(timeline: Timeline, faults: readonly FaultRule[]): readonly FaultRule[] {
  const outcome = outcomeType(timeline);
  if (outcome !== 'task_unknown' && outcome !== 'still_running') return [];
  const unknown: FaultAction = { type: 'status', status: 404 };
  const running: FaultAction = { type: 'record', patch: { status: 'in_progress' } };
  const last = faults.at(-1)?.action;
  if (outcome === 'task_unknown') return [poll(unknown, 0)];
  return [poll(last?.type === 'record' ? last : running, 0)];
}

/** Bytes received from an incomplete file. Smaller than any sandbox video. */
const SOME_BYTES = 1_000;
/** A single-attempt download that took longer than this, in milliseconds, is reported as slow. */
const SLOW_MS = 30_000;

/** Derives the download faults: first the failed attempts, then the file's final outcome. */
export function downloadFaults(timeline: Timeline, speed: number): ScenarioPart {
  const faults: FaultRule[] = [];
  const notPlayed: string[] = [];
  const place = bytesFrom(timeline);
  for (const { kind, facts } of timeline.entries) {
    if (kind !== 'download') continue;
    const reason = textOf(facts['reason']);
    const isOver = facts['outcome'] === 'downloaded' || facts['outcome'] === 'content_unavailable';
    const name = reason ?? problemIn(facts);
    const failed = reason === null ? (numberOf(facts['tries']) ?? 1) - 1 : 0;
    if (!isOver) notPlayed.push('a download that did not finish');
    if (reason === null && failed === 0) {
      const tookMs = numberOf(facts['tookMs']) ?? 0;
      if (tookMs > SLOW_MS) notPlayed.push(`a slow download (${shownSpan(tookMs)})`);
      continue;
    }
    const action = actionOf(name, facts, speed);
    if (action === undefined) notPlayed.push(`a download that failed (${name})`);
    else
      faults.push({
        operation: CHANGES_BYTES.includes(action.type) ? place : 'content',
        times: reason !== null ? 0 : isAsked(facts) ? failed : fewerTries(failed, speed),
        action,
      });
  }
  return { faults, notPlayed };
}

/** Whether the service requested the pause before the next attempt. */
const isAsked = (facts: Facts): boolean => numberOf(facts['retryAfterMs']) !== null;

const CHANGES_BYTES: readonly FaultAction['type'][] = ['truncate', 'cut_body'];

/** Returns the sandbox endpoint that sends the file. */
function bytesFrom(timeline: Timeline): 'content' | 'media' {
  return behaviourOf(standIn(timeline)).content === 'direct' ? 'content' : 'media';
}

/** Returns the class of the last failed attempt. The history omits earlier ones, which are assumed to be the same. */
const problemIn = (facts: Facts): string => /^\w+/.exec(textOf(facts['lastFailure']) ?? '')?.[0] ?? 'unknown';

/** Returns the fault for a failed download, or undefined if the service did not cause it. */
function actionOf(name: string, facts: Facts, speed: number): FaultAction | undefined {
  const status =
    numberOf(facts['httpStatus']) ?? Number(/HTTP (\d{3})/.exec(textOf(facts['lastFailure']) ?? '')?.[1]);
  const asked = numberOf(facts['retryAfterMs']);
  const headers = asked === null ? {} : { headers: { 'retry-after': String(retryAfter(asked, speed)) } };
  const answer = (usual: number): FaultAction => ({ type: 'status', status: status || usual, ...headers });
  switch (name) {
    case 'expired':
      return { type: 'expired' };
    case 'not_video':
    case 'no_picture':
      return { type: 'html_page' };
    case 'incomplete_file':
      return { type: 'truncate', bytes: SOME_BYTES };
    case 'network':
      return { type: 'cut_body', afterBytes: SOME_BYTES, how: 'reset' };
    case 'missing':
    case 'not_ready' satisfies ContentUnavailableReason:
      return status > 0 && ![400, 404, 409].includes(status) ? answer(503) : { type: 'not_ready' };
    case 'unavailable':
      return answer(503);
    case 'rate_limited':
      return answer(429);
    case 'auth' satisfies ContentUnavailableReason:
    case 'credentials':
      return answer(401);
    default:
      return undefined;
  }
}
