import { type Money } from 'temporal-media';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { ACTIVITY } from 'temporal-media/internal/domain/names';
import { DEFAULT_WAIT_MS } from 'temporal-media/internal/domain/timeouts';
import { failureWords } from './failure-facts';
import { type Operation } from './operations';
import { type Said, type Story } from './story';
import { pauseOn, pauseSpans } from './time-spent';
import { SPENT, type Fact, type Facts, type Tone } from './timeline';
import {
  counted,
  type Fields,
  fieldsOf,
  numberOf,
  present,
  type Shown,
  shownSpan,
  textOf,
  timeOf,
} from './values';

/** One answer about a paid call, from a create, a group of creates or a reconciliation. */
export interface AnswerSaid {
  readonly text: string;
  readonly tone: Tone;
  readonly facts: Facts;
  readonly outcome: string;
  readonly isSent: boolean;
}

export function moneyOf(value: unknown): Money | null {
  const { microUnits, currency } = fieldsOf(value);
  const whole = numberOf(microUnits);
  return whole === null || !Number.isSafeInteger(whole) || whole < 0 || !/^[A-Z]{3}$/.test(String(currency))
    ? null
    : { microUnits: whole, currency: String(currency) };
}

/** Returns the outcome, proof and cost from an answer about a paid call, without any text from the service. */
export function answerSaid(answer: unknown, shown: Shown): AnswerSaid | undefined {
  const fields = fieldsOf(answer);
  const outcome = textOf(fields['outcome']);
  if (outcome === null) return undefined;
  const isSent = fields['sent'] === true;
  const common = present<Fact>({
    outcome: shown.word(outcome),
    sent: isSent,
    sendAttempt: numberOf(fields['sendAttempt']),
    account: shown.id(fields['account']),
    estimate: shownMoney(fields['estimate']),
    mayBeOwed: fields['mayBeOwed'] === true ? true : null,
  });
  const word = wordsOf(outcome, fields, isSent, shown);
  return { outcome, isSent, tone: word.tone, text: word.text, facts: { ...common, ...word.facts } };
}

type Words = Pick<AnswerSaid, 'text' | 'tone' | 'facts'>;

function wordsOf(outcome: string, fields: Fields, isSent: boolean, shown: Shown): Words {
  const { httpStatus } = fields;
  const status = numberOf(httpStatus) === null ? '' : ` with HTTP ${numberOf(httpStatus)}`;
  switch (outcome) {
    case 'created': {
      const video = fieldsOf(fields['video']);
      const taskId = shown.id(video['taskId']);
      const facts = present<Fact>({
        taskId,
        model: shown.word(video['model']),
        durationSeconds: numberOf(video['durationSeconds']),
        resolution: shown.word(video['resolution']),
        referenceMode: shown.word(video['referenceMode']),
        createdAt: timeOf(video['createdAt']),
        status: shown.word(fields['status']),
      });
      const text = isSent
        ? `sent, accepted as task ${taskId}`
        : `not sent again: the journal already has task ${taskId}`;
      return { tone: 'good', text, facts };
    }
    case 'not_sent': {
      const cause = shown.word(fields['cause']);
      const until = timeOf(fields['heldUntil']);
      const facts = present<Fact>({
        cause,
        permanent: fields['permanent'] === true,
        field: shown.word(fields['field']),
        reason: shown.word(fields['reason']),
        heldUntil: until,
      });
      const held = until === null ? '' : `; nothing will be sent before ${until}`;
      return { tone: 'wait', text: `not sent (${cause})${held}`, facts };
    }
    case 'refused_for_now': {
      const notBefore = timeOf(fields['notBefore']);
      const facts = present<Fact>({
        httpStatus: numberOf(httpStatus),
        ...errorFacts(fields['error'], shown),
        notBefore,
      });
      const asked = notBefore === null ? '' : `; the service requested no creates before ${notBefore}`;
      return { tone: 'wait', text: `temporarily refused${status}${kindIn(facts)}${asked}`, facts };
    }
    case 'rejected': {
      const reason = shown.word(fields['reason']);
      const facts = present<Fact>({
        reason,
        field: shown.word(fields['field']),
        httpStatus: numberOf(httpStatus),
        ...errorFacts(fields['error'], shown),
        standing: shown.word(fields['standing']),
        heldUntil: timeOf(fields['heldUntil']),
      });
      return { tone: 'bad', text: `rejected${status} (${reason}): nothing was bought`, facts };
    }
    case 'pending':
      return {
        tone: 'wait',
        text: 'not sent: another send of this call may be in flight',
        facts: {},
      };
    case 'unconfirmed': {
      const evidence = evidenceFacts(fields['evidence'], shown);
      const times = fields['resent'] === true ? 'sent more than once under one idempotency key' : 'sent once';
      const text = `${isSent ? times : 'outcome unknown'} (${textOf(evidence['cause']) ?? 'no cause recorded'}): it may have been accepted`;
      return { tone: 'bad', text, facts: { evidence } };
    }
    case 'completed':
      return { tone: 'good', text: 'images were stored', facts: {} };
    case 'results_lost':
      return {
        tone: 'bad',
        text: 'paid, but results were lost',
        facts: present({ reason: shown.word(fields['reason']) }),
      };
    default:
      return { tone: 'plain', text: shown.word(outcome) ?? 'answered', facts: {} };
  }
}

const kindIn = (facts: Facts): string => (typeof facts['kind'] === 'string' ? ` (${facts['kind']})` : '');

/** Returns a service error's kind and code, never its text. */
export function errorFacts(error: unknown, shown: Shown): { readonly [name: string]: Fact } {
  const { kind, code } = fieldsOf(error);
  return present<Fact>({ kind: shown.word(kind), code: shown.word(code) });
}

function evidenceFacts(evidence: unknown, shown: Shown): { readonly [name: string]: Fact } {
  const fields = fieldsOf(evidence);
  const headers = Object.entries(fieldsOf(fields['headers'])).map(
    ([name, value]) => [shown.word(name) ?? '', shown.word(value)] as const,
  );
  return present<Fact>({
    cause: shown.word(fields['cause']),
    intentAt: timeOf(fields['intentAt']),
    sendWindowEnd: timeOf(fields['sendWindowEnd']),
    bodyHash: shown.hash(fields['bodyHash']),
    httpStatus: numberOf(fields['httpStatus']),
    kind: shown.word(fields['kind']),
    code: shown.word(fields['code']),
    replyHash: shown.hash(fields['replyHash']),
    model: shown.word(fields['model']),
    durationSeconds: numberOf(fields['durationSeconds']),
    resolution: shown.word(fields['resolution']),
    referenceMode: shown.word(fields['referenceMode']),
    account: shown.id(fields['account']),
    taskId: shown.id(fields['taskId']),
    headers: headers.length === 0 ? null : Object.fromEntries(headers),
  });
}

const shownMoney = (value: unknown): string | null => {
  const money = moneyOf(value);
  return money === null ? null : formatMoney(money);
};

/** Describes how an activity without a result ended, or its current state. */
export function withoutAnswer(operation: Operation): Pick<Required<Said>, 'text' | 'tone'> {
  const { end, failure, startedAt, offered } = operation;
  if (end === 'open') {
    const where =
      offered !== null
        ? 'waiting for a worker'
        : startedAt === null
          ? 'waiting for a worker or running'
          : 'running';
    return { tone: 'wait', text: where };
  }
  if (end === 'cancelled') return { tone: 'wait', text: 'canceled' };
  // The history does not show whether a worker had started it, because an activity's start is recorded only when it
  // ends.
  if (end === 'dropped') return { tone: 'wait', text: 'still open when the run ended' };
  if (failure === null) return { tone: 'bad', text: `${end.replace('_', ' ')} without a result` };
  const untaken = startedAt === null ? ': no worker started it' : '';
  return { tone: 'bad', text: `no result (${failureWords(failure)})${untaken}` };
}

/** Returns an activity's times and attempts. */
export function workFacts(operation: Operation): Facts {
  const { at, startedAt, endedAt, attempt, lastFailure, failure, summary } = operation;
  return present<Fact>({
    waitedForWorkerMs: startedAt === null || attempt > 1 ? null : startedAt - at,
    tookMs: startedAt === null || endedAt === null ? null : endedAt - startedAt,
    tries: attempt > 1 ? attempt : null,
    lastFailure: lastFailure === null ? null : failureWords(lastFailure),
    failure: failure === null ? null : failureWords(failure),
    retryAfterMs: failure?.retryAfterMs ?? lastFailure?.retryAfterMs ?? null,
    summary,
  });
}

const took = ({ at, endedAt }: Operation): string =>
  endedAt === null ? '' : `, in ${shownSpan(endedAt - at)}`;

const PROVES_SEND: readonly string[] = ['created', 'refused_for_now'];

/** Reads a create or a reconciliation of one video. */
export function readCreate(operation: Operation, story: Story): void {
  const isReconcile = operation.name === ACTIVITY.reconcileCreate;
  const input = fieldsOf(operation.input);
  const key = story.shown.id(input['creationKey']);
  story.creationKey ??= key;
  const name = isReconcile ? 'Journal' : input['recordedOnly'] === true ? 'Recorded create' : 'Create';
  const said: Omit<AnswerSaid, 'outcome'> & { readonly outcome: string | null } = answerSaid(
    operation.result,
    story.shown,
  ) ?? { ...withoutAnswer(operation), facts: {}, outcome: null, isSent: false };
  const facts = {
    ...present<Fact>({ creationKey: key }),
    ...said.facts,
    ...workFacts(operation),
  };
  const estimate = said.facts['estimate'];
  const cost = said.outcome === 'created' && typeof estimate === 'string' ? `, estimate ${estimate}` : '';
  const text = `${name}: ${said.text}${cost}${took(operation)}`;
  const entry = story.add(
    { kind: isReconcile ? 'reconcile' : 'create', tone: said.tone, text, facts },
    operation,
  );
  story.limits.set(`${operation.run}/${operation.command}`, entry);
  // A create that returned no answer was sent if the journal has its outcome.
  if (isReconcile ? story.isUnanswered && PROVES_SEND.includes(said.outcome ?? '') : said.isSent)
    story.sent(said.outcome);
  story.isUnanswered = !isReconcile && said.outcome === null;
  story.estimated(moneyOf(fieldsOf(operation.result)['estimate']));
  if (said.outcome === 'unconfirmed' && operation.endedAt !== null) story.undecidedSince = operation.endedAt;
  else story.undecidedSince = null;
  if (said.outcome === 'created') readTask(fieldsOf(operation.result)['video'], operation, story);
}

/** Records the task that a create or a decision returned. The wait for the task begins here. */
export function readTask(video: unknown, operation: Operation, story: Story): void {
  const fields = fieldsOf(video);
  story.taskId = story.shown.id(fields['taskId']);
  story.model = story.shown.word(fields['model']) ?? story.model;
  story.account = story.shown.id(fields['account']);
  const waits = story.waitForMs ?? DEFAULT_WAIT_MS;
  story.deadlineAt = timeOf(story.processedAt(operation) + waits);
}

/** Reads one image call. */
export function readImage(operation: Operation, story: Story): void {
  const input = fieldsOf(operation.input);
  const result = fieldsOf(operation.result);
  const key = story.shown.id(input['creationKey']);
  const said = imageSaid(operation, story.shown);
  const isEdit = operation.name === ACTIVITY.editImage;
  const text = `${isEdit ? 'Image edit' : 'Image call'}: ${said.text}${took(operation)}`;
  const facts = {
    ...present<Fact>({ creationKey: key, model: story.shown.word(fieldsOf(input['request'])['model']) }),
    ...said.facts,
    ...workFacts(operation),
  };
  const entry = story.add({ kind: 'image', tone: said.tone, text, facts }, operation);
  story.limits.set(`${operation.run}/${operation.command}`, entry);
  story.creationKey ??= key;
  story.model ??= story.shown.word(fieldsOf(input['request'])['model']);
  const isPaid = ['completed', 'results_lost', 'unconfirmed'].includes(String(result['outcome']));
  if (result['sent'] === true || isPaid) story.sent(textOf(result['outcome']));
}

function imageSaid(operation: Operation, shown: Shown): Pick<AnswerSaid, 'text' | 'tone' | 'facts'> {
  const { result } = operation;
  const fields = fieldsOf(result);
  // A call that has to wait returns an answer; any other result is an outcome.
  if (fields['sent'] !== undefined) {
    const said = answerSaid(result, shown);
    if (said !== undefined) return said;
  }
  const outcome = textOf(fields['outcome']);
  if (outcome === null) return { ...withoutAnswer(operation), facts: {} };
  if (outcome === 'completed') {
    const images = Array.isArray(fields['images']) ? fields['images'].length : 0;
    return { tone: 'good', text: `${counted(images, 'image')} stored`, facts: { outcome, images } };
  }
  return (
    answerSaid({ sent: outcome === 'unconfirmed', ...fields }, shown) ?? {
      tone: 'plain',
      text: outcome,
      facts: {},
    }
  );
}

/** Reads a durable timer between two creates. The preceding answer contains the reason for the wait. */
export function readCreateWait(operation: Operation, story: Story): void {
  const to = operation.endedAt ?? story.lastAt;
  const before = story.entries.findLast(({ said }) => ['create', 'reconcile', 'image'].includes(said.kind));
  const { cause, reason, notBefore: named } = before?.said.facts ?? {};
  const on = pauseOn(cause, reason);
  const notBefore = typeof named === 'string' ? named : null;
  const askedMs = notBefore === null ? null : Math.max(0, Date.parse(notBefore) - operation.at);
  story.spans.push(...pauseSpans(operation.at, to, { on, askedMs }));
  const why =
    notBefore === null ? `: ${SPENT[on]}` : `: the service asked not to be called before ${notBefore}`;
  const text = `Waited ${shownSpan(to - operation.at)} before the next send${why}`;
  const facts = present<Fact>({ notBefore, on });
  story.add({ kind: 'create_wait', tone: 'wait', text, facts }, operation);
}
