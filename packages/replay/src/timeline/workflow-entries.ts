import { type MoneyTotals } from 'temporal-media';
import { situation } from 'temporal-media/internal/domain/advice';
import { NO_MONEY } from 'temporal-media/internal/domain/campaign/results';
import { worstTone } from 'temporal-media/internal/domain/campaign/row';
import { failureRow } from 'temporal-media/internal/domain/failure-table';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { isMediaWorkflow, WORKFLOW } from 'temporal-media/internal/domain/names';
import { milliseconds } from 'temporal-media/internal/domain/shape';
import { endedBy, failureWords } from './failure-facts';
import { eventId, type Operation } from './operations';
import { errorFacts } from './paid-entries';
import { type PollReader } from './poll-entries';
import { type OpenEntry, type Story } from './story';
import { type Fact, type MoneySummary, type Timeline, type Tone } from './timeline';
import { counted, fieldsOf, listOf, numberOf, present, shownSpan, textOf, timeOf } from './values';

/** Reads the start of the first run. */
export function readStart(operation: Operation, story: Story, polls: PollReader): void {
  const facts = startFacts(operation, story, polls);
  const text = `${story.shown.word(operation.name)} started`;
  story.add({ kind: 'started', text, facts }, operation);
}

function startFacts(
  operation: Operation,
  story: Story,
  polls: PollReader,
): { readonly [name: string]: Fact } {
  const { shown } = story;
  const attributes = operation.event.workflowExecutionStartedEventAttributes;
  const parent = attributes?.parentWorkflowExecution?.workflowId;
  const common = present<Fact>({
    taskQueue: shown.id(attributes?.taskQueue?.name),
    parent: shown.id(parent),
    attempt: (attributes?.attempt ?? 1) > 1 ? (attributes?.attempt ?? null) : null,
    cron: shown.word(attributes?.cronSchedule || null),
    sdk: null,
  });
  if (!isMediaWorkflow(operation.name)) return common;
  const input = fieldsOf(operation.input);
  const request = fieldsOf(input['request']);
  story.waitForMs = milliseconds(input['waitFor']) ?? null;
  story.creationKey ??= shown.id(input['creationKey']);
  story.model ??= shown.word(request['model']);
  const video = fieldsOf(input['video']);
  if (textOf(video['taskId']) !== null) {
    story.taskId ??= shown.id(video['taskId']);
    story.account ??= shown.id(video['account']);
    story.model ??= shown.word(video['model']);
    const waits = story.waitForMs ?? 15 * 60_000;
    story.deadlineAt = timeOf(story.processedAt(operation) + waits);
  }
  readCarried(input['carried'], story, polls);
  return {
    ...common,
    ...present<Fact>({
      creationKey: shown.id(input['creationKey']),
      model: shown.word(request['model']),
      durationSeconds: numberOf(request['durationSeconds']),
      resolution: shown.word(request['resolution']),
      references: listOf(request['references']).length || null,
      waitFor: story.waitForMs,
      onUnconfirmed: shown.word(input['onUnconfirmed']),
      taskId: shown.id(video['taskId']),
      campaign: shown.id(input['campaign']),
      batch: numberOf(input['batch']),
      concurrency: numberOf(input['concurrency']),
    }),
  };
}

/** Reads the previous run's state: the task, its deadline and its last status. */
function readCarried(carried: unknown, story: Story, polls: PollReader): void {
  const fields = fieldsOf(carried);
  story.creationKey ??= story.shown.id(fields['creationKey']);
  const watches = listOf(fieldsOf(fields['loop'])['groups']).flatMap((group) =>
    listOf(fieldsOf(group)['watches']),
  );
  const watch = fieldsOf(watches[0]);
  if (watches.length !== 1) return;
  const video = fieldsOf(watch['video']);
  story.taskId ??= story.shown.id(video['taskId']);
  story.model ??= story.shown.word(video['model']);
  story.account ??= story.shown.id(video['account']);
  story.deadlineAt = timeOf(watch['deadlineAt']) ?? story.deadlineAt;
  polls.know(textOf(video['taskId']), story.shown.word(watch['lastStatus']), numberOf(watch['progress']));
}

const PHASES: { readonly [phase: string]: string } = {
  creating: 'while creating',
  watching: 'while waiting for the video',
};

/** Reads the start of a later run. The start becomes part of the entry for the end of the previous run. */
export function readLaterStart(
  operation: Operation,
  story: Story,
  polls: PollReader,
  before: Operation | undefined,
): void {
  const facts = startFacts(operation, story, polls);
  const carried = fieldsOf(fieldsOf(operation.input)['carried']);
  const phase = PHASES[textOf(carried['phase']) ?? ''];
  const entry = story.entries.findLast(({ said }) => said.kind === 'continued' || said.kind === 'ended');
  if (before?.end === 'continued_as_new' && entry?.said.kind === 'continued') {
    const gapMs = operation.at - before.until;
    const gap = gapMs > 0 ? `, ${shownSpan(gapMs)} later` : '';
    entry.add(operation);
    const text = `Continued as new${phase === undefined ? '' : ` ${phase}`}: run ${operation.run + 1}${gap}`;
    entry.say({ text, facts: { ...entry.said.facts, gapMs, run: operation.run + 1 } });
    return;
  }
  const text = `Run ${operation.run + 1} started${phase === undefined ? '' : ` ${phase}`}`;
  story.add({ kind: 'continued', text, facts: { ...facts, run: operation.run + 1 } }, operation);
}

/** Reads how a run ended. */
export function readEnd(operation: Operation, story: Story): OpenEntry {
  const { end, failure, result } = operation;
  story.decided(operation.at);
  story.resumed(operation.at);
  if (end === 'continued_as_new') {
    const facts = present<Fact>({ newRunId: story.shown.id(operation.target?.runId) });
    return story.add({ kind: 'continued', text: 'Continued as new', facts }, operation);
  }
  if (end !== 'completed') {
    story.outcome = end;
    if (story.taskId !== null) story.advice = situation('closed_with_task', { TASK: story.taskId }).text;
    const text = `${ENDS[end] ?? 'Ended'}${endedBy(operation.event, failure, story.shown)}`;
    return story.add({ kind: 'ended', tone: end === 'cancelled' ? 'wait' : 'bad', text }, operation);
  }
  const outcome = outcomeOf(result, story);
  story.outcome = outcome.name ?? 'completed';
  const text = `Ended: ${outcome.text}`;
  return story.add({ kind: 'ended', tone: outcome.tone, text, facts: outcome.facts }, operation);
}

/** Reads a reset: the previous run's end no longer applies. */
export function readReset(operation: Operation, story: Story): void {
  story.decided(operation.at);
  story.resumed(operation.at);
  story.outcome = null;
  story.advice = null;
  const kept = eventId(operation.event) - 1;
  const from = story.shown.id(operation.target?.runId || null);
  // If the reset includes the copied events, the previous run is shown separately.
  const isShown = operation.run > 0 && operation.ids[0] === 1;
  const text = isShown
    ? `Reset: run ${operation.run + 1} repeats everything after event ${kept} of run ${operation.run}`
    : `Reset: events 1 to ${kept} were copied from run ${from ?? 'unknown'}; this run produced the later events`;
  const facts = present<Fact>({ from, event: kept, run: isShown ? operation.run + 1 : null });
  story.add({ kind: 'reset', tone: 'wait', text, facts }, operation);
}

/** Returns what is safe to do about a video whose history has no end yet; null for other workflows. */
export function adviceWhileOpen(workflowType: string, story: Story): string | null {
  if (workflowType !== WORKFLOW.generateVideo && workflowType !== WORKFLOW.awaitVideo) return null;
  const kinds = story.entries.map(({ said }) => said.kind);
  const last = kinds.at(-1);
  const waits =
    story.undecidedSince !== null ? 'unconfirmed' : last === 'create_wait' ? 'waiting_to_create' : 'creating';
  const phase = story.taskId === null ? waits : last === 'download' ? 'downloading' : 'watching';
  return situation(phase, { TASK: story.taskId, KEY: story.creationKey }).text;
}

const ENDS: { readonly [end: string]: string } = {
  failed: 'Failed',
  timed_out: 'Timed out',
  cancelled: 'Canceled',
  terminated: 'Terminated',
};

interface Outcome {
  readonly name: string | null;
  readonly text: string;
  readonly tone: Tone;
  readonly facts: { readonly [name: string]: Fact };
}

/**
 * Reads the outcome that a workflow returned. The description comes from the failure table, because the outcome's
 * message may contain text from others.
 */
function outcomeOf(result: unknown, story: Story): Outcome {
  const { shown } = story;
  const fields = fieldsOf(result);
  const name = shown.word(fields['outcome']);
  readMoney(fields, story);
  if (name === null) {
    // The result is from a campaign's batch.
    const counts = countsOf(fieldsOf(fieldsOf(fields['report'])['results'])['counts'], story);
    const tone = worstTone(Object.keys(counts));
    return { name, text: ownEnd(fields), tone, facts: tone === 'good' ? {} : { counts } };
  }
  const error = errorFacts(fields['error'], shown);
  const evidence = fieldsOf(fields['evidence']);
  const facts = present<Fact>({
    outcome: name,
    reason: shown.word(fields['reason'] ?? fieldsOf(fieldsOf(fields['plan'])['refused'])['reason']),
    field: shown.word(fields['field']),
    ...error,
    cause: shown.word(evidence['cause']),
    httpStatus: numberOf(fields['httpStatus']),
    notBefore: timeOf(fields['notBefore']),
    lastStatus: shown.word(fields['lastStatus']),
    polls: numberOf(fields['polls']) ?? numberOf(fieldsOf(fields['watch'])['polls']),
    warnings: listOf(fields['warnings']).length || null,
    billing: shown.word(fieldsOf(fields['billing'])['state']),
    counts: fields['counts'] === undefined ? null : countsOf(fields['counts'], story),
  });
  story.taskId ??= shown.id(fieldsOf(fields['video'])['taskId']);
  const detail = facts['reason'] ?? facts['kind'] ?? facts['cause'];
  // A campaign has its own outcomes. The table covers single calls.
  const isCampaign = fields['campaign'] !== undefined;
  const row = isCampaign
    ? undefined
    : failureRow({
        outcome: name,
        ...(typeof facts['reason'] === 'string' && { reason: facts['reason'] }),
        ...(typeof facts['field'] === 'string' && { field: facts['field'] }),
        ...(typeof facts['kind'] === 'string' && { error: { kind: facts['kind'] } }),
      });
  story.advice = row === undefined ? null : `${row.meaning} ${row.hint}`;
  const tone = worstTone([name, ...Object.keys(fieldsOf(facts['counts']))]);
  const counts = countText(facts['counts'] ?? null);
  const rows = counts === '' ? '' : `: ${counts}`;
  return { name, text: `${name}${typeof detail === 'string' ? ` (${detail})` : ''}${rows}`, tone, facts };
}

const countText = (counts: Fact): string =>
  Object.entries(fieldsOf(counts))
    .map(([outcome, count]) => `${String(count)} ${outcome}`)
    .join(', ');

function countsOf(counts: unknown, story: Story): { readonly [name: string]: Fact } {
  return Object.fromEntries(
    Object.entries(fieldsOf(counts)).flatMap(([name, count]) => {
      const number = numberOf(count);
      return number === null ? [] : [[story.shown.word(name) ?? '', number] as const];
    }),
  );
}

function ownEnd(fields: { readonly [name: string]: unknown }): string {
  if (typeof fields['resolved'] === 'boolean') return fields['resolved'] ? 'decided' : 'not decided';
  const why = textOf(fields['why']);
  return why === null ? 'completed' : why.replace('_', ' ');
}

function readMoney(fields: { readonly [name: string]: unknown }, story: Story): void {
  const bill = fieldsOf(fields['billing']);
  const currency = story.shown.word(bill['currency']);
  const [estimate, actual] = [bill['estimate'], bill['actual']].map((amount) => {
    const microUnits = numberOf(amount);
    return microUnits === null || currency === null ? null : { microUnits, currency };
  });
  const state = Object.keys(STATES).find((word) => word === bill['state']);
  story.money = {
    ...story.money,
    ...(estimate && { estimate }),
    ...(actual && { actual }),
    ...(state !== undefined && { state: state as NonNullable<MoneySummary['state']> }),
    usageReported: story.money.usageReported || bill['usage'] !== undefined,
  };
  const results = fieldsOf(fields['report'])['results'];
  const totals = fields['money'] ?? fieldsOf(results)['money'];
  if (totals !== undefined) campaignMoney(totals, fields['currency'], story);
  const budget = numberOf(fieldsOf(fieldsOf(fields['budget'])['total'])['microUnits']);
  if (budget !== null) story.money = { ...story.money, budget };
}

/** Reads a campaign's money from its result or a report. */
export function campaignMoney(totals: unknown, currency: unknown, story: Story): void {
  const fields = fieldsOf(totals);
  const numbers = Object.keys(NO_MONEY).map((name) => [name, numberOf(fields[name]) ?? 0]);
  story.money = {
    ...story.money,
    totals: {
      currency: story.shown.word(currency) ?? story.money.totals?.currency ?? story.currency,
      ...(Object.fromEntries(numbers) as unknown as MoneyTotals),
    },
  };
}

/** Reads a failed workflow task. Consecutive tasks with the same failure share one entry. */
export function readTaskFailure(operation: Operation, story: Story): void {
  const why =
    operation.end === 'timed_out'
      ? 'timed out'
      : `failed: ${operation.failure === null ? 'unknown' : failureWords(operation.failure)}`;
  const last = story.entries.at(-1);
  if (last?.said.kind === 'task_failure' && last.said.facts['why'] === why) {
    const times = Number(last.said.facts['times'] ?? 1) + 1;
    last.add(operation);
    last.say({ text: `${counted(times, 'workflow task')} ${why}`, facts: { why, times } });
    return;
  }
  story.add(
    { kind: 'task_failure', tone: 'bad', text: `Workflow task ${why}`, facts: { why, times: 1 } },
    operation,
  );
}

/** Returns `4 sends: 3 refused, 1 accepted`, or null if nothing was sent. */
export function sendsText({ sends, sendsRefused, sendsAccepted }: Timeline): string | null {
  if (sends === 0) return null;
  const counts = [
    [sendsRefused, 'refused'],
    [sendsAccepted, 'accepted'],
    [sends - sendsRefused - sendsAccepted, 'with unknown outcome'],
  ] as const;
  const words = counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  return sends === 1 ? `1 send, ${words[0]?.slice(2)}` : `${sends} sends: ${words.join(', ')}`;
}

const STATES = {
  settled: 'settled',
  estimated: 'not billed yet',
  reserved: 'reserved',
  needs_review: 'under review',
  none: 'nothing owed',
};

/** Describes what the execution may have cost; null if unknown. */
export function moneySummaryText({ estimate, actual, state, totals }: MoneySummary): string | null {
  if (totals !== undefined) {
    const { currency } = totals;
    const amounts = [
      ['settled', totals.settled],
      ['estimated', totals.estimated],
      ['reserved', totals.reserved],
      ['under review', totals.needsReview],
    ] as const;
    const shown = amounts.flatMap(([name, microUnits]) =>
      microUnits === 0 ? [] : [`${formatMoney({ microUnits, currency })} ${name}`],
    );
    if (totals.unknown > 0) shown.push(`${totals.unknown} with unknown price`);
    return shown.length === 0 ? 'nothing' : shown.join(', ');
  }
  if (estimate === null && state === null) return null;
  const expected = estimate === null ? 'price unknown' : `estimate ${formatMoney(estimate)}`;
  const amount = actual === null ? expected : `${expected}, billed ${formatMoney(actual)}`;
  return state === null
    ? `${amount}, not settled`
    : state === 'none'
      ? STATES.none
      : `${amount}, ${STATES[state]}`;
}
