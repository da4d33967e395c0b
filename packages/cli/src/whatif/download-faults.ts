import { type ContentUnavailableReason } from 'temporal-media';
import { type Facts, type Timeline } from '@temporal-media/replay';
import { type FaultAction, type FaultRule } from '@temporal-media/sandbox';
import { numberOf, textOf } from '@temporal-media/replay/internal/timeline/read-value';
import { shownSpan } from '@temporal-media/replay/internal/timeline/sizes';
import { behaviourOf } from '@temporal-media/sandbox/internal/models';
import { type ScenarioPart } from './scenario-part';
import { standIn } from './local-request';
import { fewerTries, retryAfter } from './service-replies';

/** Bytes that arrive of a file that does not come whole: fewer than any video of the sandbox has. */
const SOME_BYTES = 1_000;
/** A download of one try that took longer, in milliseconds, is told as slow. */
const SLOW_MS = 30_000;

/** The faults of the downloads: those of the tries that failed, then what the file came to. */
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
    if (!isOver) notPlayed.push('a download without an end');
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

/** Whether the service asked for the pause before the next try. */
const isAsked = (facts: Facts): boolean => numberOf(facts['retryAfterMs']) !== null;

const CHANGES_BYTES: readonly FaultAction['type'][] = ['truncate', 'cut_body'];

/** Which address of the sandbox sends the file. */
function bytesFrom(timeline: Timeline): 'content' | 'media' {
  return behaviourOf(standIn(timeline)).content === 'direct' ? 'content' : 'media';
}

/** The class of the last try that failed; the history does not have those before it, which are taken to be like it. */
const problemIn = (facts: Facts): string => /^\w+/.exec(textOf(facts['lastFailure']) ?? '')?.[0] ?? 'unknown';

/** Undefined for what is no fault of the service. */
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
