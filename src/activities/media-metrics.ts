import { OTHER } from '../domain/ended-video-metrics';
import { failureRow, type RejectReason } from '../domain/failure-table';
import { type RecordedAnswer } from '../domain/log-entries';
import { type Metrics, NO_METRICS } from '../domain/metrics';
import { endedBilling, finishedState } from '../domain/money';
import { isValidated } from '../domain/outcome';
import { type StandingScope, type UnconfirmedCall } from '../domain/paid-call';
import {
  isFinal,
  type PollAnswer,
  type PollVideosInput,
  type PollVideosResult,
} from '../domain/poll-answers';
import { tickIntervalMs } from '../domain/poll-cadence';
import { type PaidOperation } from '../domain/request';

interface Watched {
  readonly account: string;
  polledAt: number;
  /** After this time, another worker polls the video, or no worker does. */
  until: number;
}

/** Intervals without a poll after which a video no longer counts as in flight, and the minimum time for that. */
const MISSED_INTERVALS = 3;
const LEAST_MS = 60_000;
const SAMPLE_MS = 15_000;
/** More tasks than one worker ever has in flight. */
const MAX_WATCHED = 100_000;

/**
 * Counts a worker's polls based on the answers to its ticks, whichever thread runs the ticks. Every tick names the
 * videos in flight.
 */
export class PollMetrics {
  private readonly watched = new Map<string, Watched>();
  /** Videos in flight by account. An account with 0 stays in the map so that its gauge is set to 0. */
  private readonly inFlight = new Map<string, number>();
  private sampling: NodeJS.Timeout | undefined;

  constructor(
    private readonly metrics: Metrics,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @param account name of the worker's account for this tick */
  count(account: string, input: PollVideosInput, result: PollVideosResult): void {
    if (this.metrics === NO_METRICS) return;
    const ids = input.byModel.flatMap((batch) => batch.ids);
    for (const [answer, polls] of pollsByAnswer(input, result))
      this.metrics.record('polls', polls, { account, answer });
    const finished = new Set<number>();
    for (const answer of result.answers)
      if ('record' in answer && isFinal(answer.record)) finished.add(answer.index);

    const now = this.now();
    const until = now + Math.max(LEAST_MS, MISSED_INTERVALS * tickIntervalMs(input));
    for (const [index, id] of ids.entries()) {
      const task = `${account} ${id}`;
      const known = this.watched.get(task);
      if (finished.has(index)) {
        if (known === undefined) continue;
        this.metrics.record('detection', now - known.polledAt, { account });
        this.remove(task, known);
      } else if (known !== undefined) {
        known.polledAt = now;
        known.until = until;
      } else if (this.watched.size < MAX_WATCHED) {
        this.watched.set(task, { account, polledAt: now, until });
        this.inFlight.set(account, (this.inFlight.get(account) ?? 0) + 1);
      }
    }
    this.report(account);
    // A worker that no longer receives ticks has nothing in flight.
    if (this.watched.size > 0) this.sampling ??= setInterval(() => this.sample(), SAMPLE_MS).unref();
  }

  /** Removes videos that no recent tick has named. */
  sample(): void {
    const now = this.now();
    for (const [task, watched] of this.watched) if (watched.until < now) this.remove(task, watched);
    for (const account of this.inFlight.keys()) this.report(account);
    if (this.watched.size > 0) return;
    clearInterval(this.sampling);
    this.sampling = undefined;
  }

  private remove(task: string, { account }: Watched): void {
    this.watched.delete(task);
    this.inFlight.set(account, (this.inFlight.get(account) ?? 1) - 1);
  }

  private report(account: string): void {
    this.metrics.record('inFlight', this.inFlight.get(account) ?? 0, { account });
  }
}

/** Counts a tick's tasks by the label for their answer. A task without an answer counts as unchanged. */
export function pollsByAnswer(
  { byModel }: PollVideosInput,
  { answers }: PollVideosResult,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const answer of answers) {
    const word = wordOf(answer);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const silent = byModel.reduce((sum, { ids }) => sum + ids.length, 0) - answers.length;
  if (silent > 0) counts.set('unchanged', (counts.get('unchanged') ?? 0) + silent);
  return counts;
}

function wordOf(answer: PollAnswer): string {
  if ('record' in answer) return 'record';
  if ('unchanged' in answer) return 'unchanged';
  return answer.error === 'rate_limited' && answer.unsent === true ? 'held' : answer.error;
}

/** One execution of a paid activity, as reported. */
interface ReportedCall {
  readonly operation: PaidOperation;
  readonly creationKey: string;
  /** Undefined if this worker does not have the account, because the caller's text must not become a label. */
  readonly account: string | undefined;
  readonly model: string;
  /** Whether the model is in the configuration. */
  readonly isKnownModel: boolean;
  readonly answer: RecordedAnswer;
  /** Whether an earlier execution has recorded and reported the answer. */
  readonly isRecorded: boolean;
  /** Whether the call was sent before under the same idempotency key, in which case its estimate is already counted. */
  readonly isRepeated: boolean;
}

/** An attempt to download a video. */
interface ReportedDownload {
  /** Undefined if this worker does not have the account. */
  readonly account: string | undefined;
  readonly taskId: string;
  /** `downloaded`, or the kind of problem. */
  readonly result: string;
  readonly bytes?: number;
  /** Why there is no video. Set if no further attempt follows. */
  readonly givenUp?: string;
}

/**
 * Reports paid work to operators: metrics, and a log line for each call that was sent. Reporting never delays the work
 * or makes it fail. A log line is written once the keys that it must not show are known.
 */
export interface PaidEvents {
  readonly metrics: Metrics;
  called(call: ReportedCall): void;
  /** Reports that a sender was lost and its call's outcome is unknown. */
  lost(creationKey: string, answer: UnconfirmedCall, account: string | undefined): void;
  downloaded(download: ReportedDownload): void;
  readonly gate: (account: string, scope: StandingScope, closed: number, reason: RejectReason | null) => void;
}

/** An event's log level: ERROR if a paid result is missing, WARN if its outcome is unknown. */
export type EventLevel = 'INFO' | 'WARN' | 'ERROR';

const LEVELS: { readonly [outcome: string]: EventLevel } = {
  unconfirmed: 'WARN',
  results_lost: 'ERROR',
  content_unavailable: 'ERROR',
};

interface PaidEventsOptions {
  readonly metrics: Metrics;
  /** Writes a log line. */
  readonly log: (level: EventLevel, message: string, facts: { readonly [name: string]: unknown }) => void;
  /** Whether an ID contains a secret and must not be shown. */
  readonly holdsSecret: () => Promise<(id: string) => boolean>;
}

interface EventFacts {
  readonly outcome: string;
  readonly reason?: string;
  readonly [name: string]: string | number;
}

/** Maximum number of models that become labels, because callers choose the model names. */
const MAX_MODELS = 100;

export function createPaidEvents({ metrics, log, holdsSecret }: PaidEventsOptions): PaidEvents {
  const models = new Set<string>();
  const modelLabel = ({ model, isKnownModel, answer }: ReportedCall): string => {
    const mayJoin = models.size < MAX_MODELS && (isKnownModel || outcomeOf(answer) === 'accepted');
    if (mayJoin) models.add(model);
    return models.has(model) ? model : OTHER;
  };

  function say(message: string, said: EventFacts): void {
    const level = LEVELS[said.outcome] ?? 'INFO';
    const remedy = level === 'INFO' ? undefined : failureRow(said)?.hint;
    const facts = { ...said, ...(remedy !== undefined && { remedy }) };
    holdsSecret()
      .then((secret) => {
        const shown = Object.entries(facts).map(([name, value]) => [
          name,
          typeof value === 'string' && secret(value) ? '[removed]' : value,
        ]);
        log(level, message, Object.fromEntries(shown) as typeof facts);
      })
      .catch(() => undefined);
  }

  return {
    metrics,
    called: (call) => {
      const { operation, creationKey, account = OTHER, answer, isRecorded } = call;
      if (isRecorded || (answer.outcome === 'unconfirmed' && !answer.sent)) return;
      const model = modelLabel(call);
      const outcome = outcomeOf(answer);
      const reason = reasonOf(answer);
      metrics.record('calls', 1, { operation, account, model, outcome, reason });
      if (outcome === 'unconfirmed') metrics.record('unconfirmed', 1, { account });
      countMoney(metrics, call, { account, model });
      if (!answer.sent) return;
      const { estimate } = answer;
      say(`${operation} ${outcome}`, {
        creationKey,
        ...(answer.outcome === 'created' && { taskId: answer.video.taskId }),
        outcome: answer.outcome,
        ...(reason !== '' && { reason }),
        account,
        model,
        ...(estimate !== null && {
          estimatedMicroUnits: estimate.microUnits,
          currency: estimate.currency,
        }),
      });
    },
    lost: (creationKey, { outcome, evidence: { cause } }, account = OTHER) => {
      metrics.record('unconfirmed', 1, { account });
      say('create_video unconfirmed', { creationKey, outcome, reason: cause, account });
    },
    downloaded: ({ account = OTHER, taskId, result, bytes = 0, givenUp }) => {
      metrics.record('downloadTries', 1, { account, result });
      const isStored = result === 'downloaded';
      if (!isStored && givenUp === undefined) return;
      const outcome = isStored ? 'downloaded' : 'content_unavailable';
      const reason = givenUp ?? '';
      metrics.record('downloads', 1, { account, outcome, reason });
      if (isStored) metrics.record('downloadedBytes', bytes, { account });
      say(`download ${outcome}`, {
        taskId,
        outcome,
        account,
        ...(isStored ? { bytes } : { reason }),
      });
    },
    gate: (account, scope, closed, reason) => {
      metrics.record('gatesClosed', closed, { account, scope });
      if (reason !== null) metrics.record('gateClosings', 1, { account, scope, reason });
    },
  };
}

type CallOutcome = 'accepted' | 'refused' | 'refused_before_send' | 'unconfirmed' | 'not_sent';

function outcomeOf(answer: RecordedAnswer): CallOutcome {
  switch (answer.outcome) {
    case 'created':
    case 'completed':
    case 'results_lost':
      return 'accepted';
    case 'refused_for_now':
      return 'refused';
    case 'rejected':
      return answer.sent ? 'refused' : 'refused_before_send';
    case 'unconfirmed':
    case 'not_sent':
      return answer.outcome;
  }
}

/** Returns the reason as one of a small set of public names. For an HTTP status, this is a name such as `http_429`. */
function reasonOf(answer: RecordedAnswer): string {
  switch (answer.outcome) {
    case 'created':
    case 'completed':
      return '';
    case 'results_lost':
      return 'results_lost';
    case 'refused_for_now':
      return `http_${answer.httpStatus}`;
    case 'rejected':
      return answer.reason;
    case 'unconfirmed':
      return answer.evidence.cause;
    case 'not_sent':
      return answer.cause;
  }
}

interface MoneyLabels {
  readonly account: string;
  readonly model: string;
}

/** Counts estimates, once for each send that costs or may cost money. */
function countMoney(
  metrics: Metrics,
  { operation, answer, isRepeated }: ReportedCall,
  at: MoneyLabels,
): void {
  const fate = fateOf(answer);
  if (fate !== undefined && !isRepeated) {
    if (answer.estimate === null) metrics.record('unpriced', 1, { operation, ...at });
    else {
      const { currency, microUnits } = answer.estimate;
      metrics.record('estimated', microUnits, { operation, ...at, currency, fate });
    }
  }
  if (answer.outcome !== 'completed' && answer.outcome !== 'results_lost') return;
  const lost = answer.images.filter((image) => image === null).length;
  metrics.record('images', answer.images.length - lost, { ...at, outcome: 'stored' });
  if (lost > 0) metrics.record('images', lost, { ...at, outcome: 'lost' });
  const without = answer.outcome === 'completed' ? finishedState(answer.usage) : 'needs_review';
  const { actual, estimate, currency, state } = endedBilling(answer.estimate, without, answer);
  const cost = actual ?? estimate;
  // A counter cannot count a credit.
  if (cost !== null && currency !== null)
    metrics.record('imageCost', Math.max(0, cost), { ...at, currency, state });
}

/** Returns undefined if nothing is owed, because the call was not sent or was refused without validation. */
function fateOf(answer: RecordedAnswer): 'accepted' | 'unconfirmed' | 'refused' | undefined {
  if (!answer.sent) return undefined;
  if (answer.outcome === 'rejected') return isValidated(answer) ? 'refused' : undefined;
  const outcome = outcomeOf(answer);
  return outcome === 'accepted' || outcome === 'unconfirmed' ? outcome : undefined;
}
