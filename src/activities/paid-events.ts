import { failureRow, type RejectReason } from '../domain/failure-table';
import { type RecordedAnswer } from '../domain/log-entries';
import { isValidated } from '../domain/make-outcome';
import { OTHER } from '../domain/ended-video-metrics';
import { type Metrics } from '../domain/metrics';
import { type StandingScope, type UnconfirmedCall } from '../domain/paid-call';
import { finishedState } from '../domain/price';
import { type PaidOperation } from '../domain/request';

/** One execution of a paid activity, as it is reported. */
export interface ReportedCall {
  readonly operation: PaidOperation;
  readonly creationKey: string;
  /** Undefined where this worker does not have the account: the caller's text is not a label. */
  readonly account: string | undefined;
  readonly model: string;
  /** Whether the model is one of the configuration. */
  readonly isKnownModel: boolean;
  readonly answer: RecordedAnswer;
  /** The answer was recorded by an earlier execution, which has reported it. */
  readonly isRecorded: boolean;
  /** The call was sent before, under the same idempotency key: its estimate is counted already. */
  readonly isRepeated: boolean;
}

/** A try to download a video. */
export interface ReportedDownload {
  /** Undefined where this worker does not have the account. */
  readonly account: string | undefined;
  readonly taskId: string;
  /** `downloaded`, or the kind of the problem. */
  readonly result: string;
  readonly bytes?: number;
  /** No further try follows: why there is no video. */
  readonly givenUp?: string;
}

/**
 * Reports paid work to those who run the worker: numbers, and a line in the log for each call that was sent. A report
 * fails nothing and delays nothing: its line is written when the keys that it must not show are known.
 */
export interface PaidEvents {
  readonly metrics: Metrics;
  called(call: ReportedCall): void;
  /** A sender was lost, and the fate of its call is unknown. */
  lost(creationKey: string, answer: UnconfirmedCall, account: string | undefined): void;
  downloaded(download: ReportedDownload): void;
  readonly gate: (account: string, scope: StandingScope, closed: number, reason: RejectReason | null) => void;
}

/** Level of the line of an event: ERROR where what is paid for is not there, WARN where its fate is unknown. */
export type EventLevel = 'INFO' | 'WARN' | 'ERROR';

const LEVELS: { readonly [outcome: string]: EventLevel } = {
  unconfirmed: 'WARN',
  results_lost: 'ERROR',
  content_unavailable: 'ERROR',
};

export interface PaidEventsOptions {
  readonly metrics: Metrics;
  /** Writes a line of the log. */
  readonly log: (level: EventLevel, message: string, facts: { readonly [name: string]: unknown }) => void;
  /** Whether an id contains a secret, and may not be shown. */
  readonly holdsSecret: () => Promise<(id: string) => boolean>;
}

interface EventFacts {
  readonly outcome: string;
  readonly reason?: string;
  readonly [name: string]: string | number;
}

/** Callers choose the names of models: no more of them become labels. */
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

/** Public names, of which there are few; a status of the service as `http_429`. */
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

/** Counts estimates, once for each send that costs or may cost. */
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
  if (answer.estimate === null) return;
  const { currency, microUnits } = answer.estimate;
  const state = answer.outcome === 'completed' ? finishedState(answer.usage) : 'needs_review';
  metrics.record('imageCost', microUnits, { ...at, currency, state });
}

/** Undefined where nothing is owed: it was not sent, or refused without being validated. */
function fateOf(answer: RecordedAnswer): 'accepted' | 'unconfirmed' | 'refused' | undefined {
  if (!answer.sent) return undefined;
  if (answer.outcome === 'rejected') return isValidated(answer) ? 'refused' : undefined;
  const outcome = outcomeOf(answer);
  return outcome === 'accepted' || outcome === 'unconfirmed' ? outcome : undefined;
}
