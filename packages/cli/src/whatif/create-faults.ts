import { type Facts, type Timeline, type TimelineEntry } from '@temporal-media/replay';
import { fieldsOf, numberOf, textOf, timeOf } from '@temporal-media/replay/internal/timeline/values';
import { type FaultAction, type FaultRule, type SandboxOperation } from '@temporal-media/sandbox';
import { type CreatePolicy } from 'temporal-media';
import { errorOf, fewerTries, outcomeType, retryAfter, type ScenarioPart } from './scenario-part';

/** Policy fields for statuses that do not count as a rejection by default. */
const VOUCHED: { readonly [status: number]: 'on500' | 'on502' | 'on503' | 'on504' } = {
  500: 'on500',
  502: 'on502',
  503: 'on503',
  504: 'on504',
};

/** Derives faults for the paid requests, and the statuses that the operator vouched for. */
export function createFaults(
  timeline: Timeline,
  operation: SandboxOperation,
  speed: number,
): ScenarioPart & { readonly policy: CreatePolicy } {
  const faults: FaultRule[] = [];
  const notPlayed: string[] = [];
  let policy: CreatePolicy = {};
  // If the call was given up because a requested pause was too long, that pause is not shortened.
  const isGivenUp = outcomeType(timeline) === 'rejected/retry_later';
  let refusals = 0;
  let before: string | null = null;
  timeline.entries.forEach((entry, index) => {
    if (entry.kind !== 'create' && entry.kind !== 'image') return;
    const rest = timeline.entries.slice(index + 1);
    const isLast = !rest.some(({ kind }) => kind === entry.kind);
    const played = playedAs(entry, decisionOn(rest), isGivenUp && isLast ? 1 : speed);
    // A pause that the service requested is shortened. Where the package chose the pauses, the number of attempts is
    // reduced.
    const pause = ownPause(entry);
    refusals = pause === null ? 0 : pause === before ? refusals + 1 : 1;
    before = pause;
    if (refusals > 1 && !isGivenUp && fewerTries(refusals, speed) === fewerTries(refusals - 1, speed)) return;
    if ('action' in played) faults.push({ operation, action: played.action });
    if ('notPlayed' in played) notPlayed.push(played.notPlayed);
    policy = { ...policy, ...vouchedFor(entry) };
  });
  return { faults, notPlayed, policy };
}

/**
 * Returns the status of a rejection that did not request a pause, so that the package chose the pause before the next
 * send. Null for other answers.
 */
const ownPause = ({ facts }: TimelineEntry): string | null =>
  facts['outcome'] === 'refused_for_now' && timeOf(facts['notBefore']) === null
    ? String(numberOf(facts['httpStatus']))
    : null;

/**
 * Returns what the sandbox needs to reproduce an answer: a fault, nothing, or a note about what it cannot reproduce.
 */
type Played =
  | { readonly action: FaultAction }
  | { readonly notPlayed: string }
  | { readonly asUsual: true }
  | { readonly action: FaultAction; readonly notPlayed: string };

function playedAs({ at, until, facts }: TimelineEntry, decision: string | null, speed: number): Played {
  const status = numberOf(facts['httpStatus']);
  switch (facts['outcome']) {
    case 'created':
    case 'completed':
      return { asUsual: true };
    case 'refused_for_now':
      return { action: refusal(status ?? 503, facts, Date.parse(until) || Date.parse(at), speed) };
    case 'rejected':
      return status === null
        ? { notPlayed: `a request that was rejected before it was sent (${named(facts['reason'])})` }
        : { action: { type: 'status', status, body: { error: errorOf(named(facts['kind'])) } } };
    case 'unconfirmed':
      return lost(fieldsOf(facts['evidence']), decision === null || decision === 'adopt');
    case 'not_sent':
      return { notPlayed: `a create that was not sent (${named(facts['cause'])})` };
    case 'pending':
      return { notPlayed: 'a second sender of the same create' };
    case 'results_lost':
      return { notPlayed: `images that were paid for and lost (${named(facts['reason'])})` };
    default:
      return { notPlayed: `a create without an answer (${named(facts['failure'])})` };
  }
}

function refusal(status: number, facts: Facts, saidAt: number, speed: number): FaultAction {
  const notBefore = Date.parse(timeOf(facts['notBefore']) ?? '');
  // Without the header, a 503 does not prove that nothing was accepted.
  const asked = Number.isFinite(notBefore)
    ? retryAfter(notBefore - saidAt, speed)
    : status === 503
      ? 0
      : null;
  return {
    type: 'status',
    status,
    ...(asked !== null && { headers: { 'retry-after': String(asked) } }),
    body: { error: errorOf(named(facts['kind'])) },
  };
}

/** @param accepted whether the service has the task. Without a decision, the worst case is assumed */
function lost(evidence: { readonly [name: string]: unknown }, accepted: boolean): Played {
  const cause = named(evidence['cause']);
  const status = numberOf(evidence['httpStatus']) ?? (Number(/^http_(\d{3})$/.exec(cause)?.[1]) || null);
  const type = accepted ? 'accept_then_status' : 'status';
  if (status !== null && status >= 300) return { action: { type, status } };
  switch (cause) {
    case 'connection_lost_after_send':
      return { action: { type: 'lose_reply', accepted, how: 'reset' } };
    case 'reply_truncated':
      return { action: { type: 'lose_reply', accepted, how: 'cut_body' } };
    case 'timeout_after_send':
      return {
        action: { type: 'lose_reply', accepted, how: 'reset' },
        notPlayed: "the silence until the create's timeout: its connection is reset instead",
      };
    default:
      return status === null
        ? { notPlayed: `an unconfirmed create (${cause})` }
        : { action: { type, status, raw: 'no record' } };
  }
}

/** Returns the decision about a create that precedes the next create. */
function decisionOn(rest: readonly TimelineEntry[]): string | null {
  const next = rest.find(
    ({ kind, facts }) => kind === 'create' || (kind === 'decision' && facts['resolved'] === true),
  );
  return next?.kind === 'decision' ? textOf(next.facts['decision']) : null;
}

function vouchedFor({ facts }: TimelineEntry): CreatePolicy {
  const status = numberOf(facts['httpStatus']);
  const rule = status === null ? undefined : VOUCHED[status];
  if (status === 429 && facts['outcome'] === 'rejected') return { on429: 'fail' };
  if (rule === undefined || rule === 'on503') return {};
  if (facts['outcome'] === 'refused_for_now') return { [rule]: 'resend' };
  return facts['outcome'] === 'rejected' ? { [rule]: 'fail' } : {};
}

const named = (value: unknown): string => textOf(value) ?? 'unknown';
