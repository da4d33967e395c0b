import { worstTone } from 'temporal-media/internal/domain/campaign/row';
import { ACTIVITY, isMediaWorkflow, SIGNAL, WORKFLOW } from 'temporal-media/internal/domain/names';
import { createRedactor } from 'temporal-media/internal/service/redact';
import { type LoadedRun, type LoadedTarget } from '../loaded-history';
import { BatchReader } from './batch-entries';
import { CampaignReader, isCampaignSignal } from './campaign-entries';
import { joinedRows, RowReader } from './campaign-rows';
import { readDownload, readDownloads, readLookUp } from './download-entries';
import { failureWords } from './failure-facts';
import { eventId, operationsOf, type Operation, type RunOperations } from './operations';
import { readCreate, readCreateWait, readImage, workFacts, withoutAnswer } from './paid-entries';
import { PeopleReader, readDecisionWait } from './people-entries';
import { answersOf, PollReader } from './poll-entries';
import { isSharedPolling, readSharedPolling } from './shared-polling-entries';
import { type OpenEntry, Story, withoutCopies } from './story';
import { spansOf, timeSpent, type Span } from './time-spent';
import { type Fact, type Timeline, type TimelineRun } from './timeline';
import { type Fields, fieldsOf, present, type Shown, shownBy, shownSpan } from './values';
import {
  adviceWhileOpen,
  readEnd,
  readLaterStart,
  readReset,
  readStart,
  readTaskFailure,
} from './workflow-entries';

/** Options for a timeline, in addition to its execution's histories. */
export interface TimelineOptions {
  /** Timelines of children, such as a campaign's batches. @default none */
  readonly children?: readonly Timeline[];
  /** Keys to remove, in addition to text that looks like a key. @default none */
  readonly secrets?: readonly string[];
}

/**
 * Builds one execution's timeline in the service's terms. The function is pure: the same histories always produce the
 * same timeline. Contains no prompt, key or address (architecture: Stores).
 */
export function buildTimeline(target: LoadedTarget, options: TimelineOptions = {}): Timeline {
  const runs = withoutCopies(target.runs.map(operationsOf));
  const times = runs.flatMap(({ firstAt, lastAt }) => [firstAt, lastAt]).filter((at) => at !== null);
  const firstAt = times.length === 0 ? null : Math.min(...times);
  const lastAt = times.length === 0 ? null : Math.max(...times);
  const newest = runs.at(-1);
  const readAt = newest === undefined || hasEnd(newest) ? null : (newest.run.readAt ?? null);
  // The server's clock and this machine's clock may differ.
  const until = lastAt === null ? null : Math.max(lastAt, readAt ?? 0);
  const shown = shownBy(createRedactor(options.secrets ?? []));
  const story = new Story(
    shown,
    until ?? 0,
    runs.map(({ tasks }) => tasks),
  );
  const children = options.children ?? [];
  const type = target.runs[0]?.workflowType ?? '';
  const rows = new RowReader(shown, batchInput(runs));
  const watchers = target.watchers && [
    // Two watches by one watcher share its runs.
    ...new Map(target.watchers.flatMap(({ runs: all }) => all.map((run) => [run.runId, run]))).values(),
  ];
  new StoryReader(story, rows, type, watchers).read(runs);
  if (story.outcome === null) story.advice = adviceWhileOpen(type, story);
  for (const run of runs) story.spans.push(...spansOf(run, (hasEnd(run) ? run.lastAt : until) ?? 0));
  story.spans.push(...resetSpans(runs));
  story.decided(story.lastAt);
  story.resumed(story.lastAt);
  const { polls } = story;
  const start = runs[0]?.operations.find(({ kind }) => kind === 'start')?.event
    .workflowExecutionStartedEventAttributes;
  const parent = start?.parentWorkflowExecution;
  return {
    v: 1,
    workflowId: shown.id(target.runs[0]?.workflowId ?? '') ?? '',
    workflowType: shown.word(type) ?? '',
    parent: parent?.workflowId
      ? { workflowId: shown.id(parent.workflowId) ?? '', runId: shown.id(parent.runId) ?? '' }
      : null,
    runs: runs.map((run) => runOf(run, shown)),
    startedAt: iso(firstAt),
    lastEventAt: iso(lastAt),
    readAt: readAt === null ? null : iso(until),
    outcome: story.outcome,
    advice: story.advice,
    taskId: story.taskId,
    creationKey: story.creationKey,
    model: story.model,
    account: story.account,
    deadlineAt: story.taskId === null ? null : story.deadlineAt,
    money: story.money,
    sends: story.sends,
    sendsRefused: story.sendsRefused,
    sendsAccepted: story.sendsAccepted,
    polls: { ...polls, first: iso(polls.first), last: iso(polls.last) },
    spent: firstAt === null || until === null ? [] : timeSpent(firstAt, until, story.spans),
    entries: story.entries
      .map((entry) => ({ at: entry.at, order: entry.order(), entry }))
      .sort((a, b) => a.at - b.at || a.order[0] - b.order[0] || a.order[1] - b.order[1])
      .map(({ entry }) => entry.finish()),
    rows: rows.all().length > 0 ? rows.all() : joinedRows(children.flatMap((child) => child.rows)),
    children,
  };
}

const hasEnd = ({ operations }: RunOperations): boolean => operations.some(({ kind }) => kind === 'end');

/** The time between a run's end and its reset. */
function resetSpans(runs: readonly RunOperations[]): Span[] {
  return runs.flatMap((run, index) => {
    const before = runs[index - 1];
    const isOfBefore = run.operations.some(
      ({ kind, target }) => kind === 'reset' && target?.runId === before?.run.runId,
    );
    return isOfBefore && before?.lastAt != null && run.firstAt !== null
      ? [{ from: before.lastAt, to: run.firstAt, on: 'until_reset' as const }]
      : [];
  });
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** A batch's input; empty for other workflows. */
function batchInput(runs: readonly RunOperations[]): Fields {
  const start = runs[0]?.operations.find(({ kind }) => kind === 'start');
  return start?.name === WORKFLOW.campaignBatch ? fieldsOf(start.input) : {};
}

function runOf({ run, operations, firstAt, lastAt, events }: RunOperations, shown: Shown): TimelineRun {
  const end = operations.find(({ kind }) => kind === 'end')?.end ?? 'open';
  const reset = operations.findLast(({ kind }) => kind === 'reset');
  const from = reset?.target?.runId;
  const lastKept = reset === undefined ? 0 : eventId(reset.event) - 1;
  const isOpen = end === 'open' || end === 'fired' || end === 'dropped';
  return {
    runId: shown.id(run.runId) ?? '',
    source: shown.said(run.source) ?? '',
    startedAt: iso(firstAt),
    endedAt: isOpen ? null : iso(lastAt),
    events,
    end: isOpen ? 'open' : end,
    resetFrom: from ? { runId: shown.id(from) ?? '', eventId: lastKept } : null,
  };
}

/** Reads operations in order. Each kind of work has its own reader. */
class StoryReader {
  private readonly polls: PollReader;
  private readonly people: PeopleReader;
  private readonly campaign: CampaignReader;
  private readonly batch: BatchReader;
  private readonly isOurs: boolean;

  constructor(
    private readonly story: Story,
    private readonly rows: RowReader,
    workflowType: string,
    watchers: readonly LoadedRun[] | undefined,
  ) {
    this.polls = new PollReader(story, watchers);
    this.people = new PeopleReader(story);
    this.campaign = new CampaignReader(story);
    this.batch = new BatchReader(story, rows);
    this.isOurs = isMediaWorkflow(workflowType);
  }

  read(runs: readonly RunOperations[]): void {
    let before: Operation | undefined;
    runs.forEach(({ operations }, index) => {
      for (const operation of operations) this.operation(operation, before);
      this.polls.close(index);
      before = operations.findLast(({ kind }) => kind === 'end') ?? before;
    });
    this.campaign.finish();
  }

  private operation(operation: Operation, before: Operation | undefined): void {
    const { story } = this;
    const name = story.shown.word(operation.name) ?? '';
    switch (operation.kind) {
      case 'start':
        if (operation.run === 0) readStart(operation, story, this.polls);
        else readLaterStart(operation, story, this.polls, before);
        return;
      case 'activity':
        this.activity(operation);
        return;
      case 'timer':
        this.timer(operation);
        return;
      case 'child':
        if (operation.name === WORKFLOW.campaignBatch) this.campaign.batch(operation);
        else this.child(operation);
        return;
      case 'signal':
      case 'sent_signal':
        this.signal(operation, name);
        return;
      case 'update':
        this.people.update(operation);
        return;
      case 'cancel_requested':
        this.people.cancel(operation);
        return;
      case 'task_failure':
        readTaskFailure(operation, story);
        return;
      case 'reset':
        readReset(operation, story);
        return;
      case 'end':
        readEnd(operation, story);
        return;
      case 'attributes':
        story.add({ kind: 'attributes', text: 'Search attributes or memo updated' }, operation);
        return;
      case 'marker':
        story.add({ kind: 'marker', text: `Marker ${name}` }, operation);
        return;
      case 'event':
        story.add({ kind: 'event', text: `Event ${name}` }, operation);
    }
  }

  private activity(operation: Operation): void {
    const { story } = this;
    if (isSharedPolling(operation)) return readSharedPolling(operation, story, this.polls);
    switch (operation.name) {
      case ACTIVITY.createVideo:
      case ACTIVITY.reconcileCreate:
        readCreate(operation, story);
        return;
      case ACTIVITY.generateImage:
      case ACTIVITY.editImage:
        readImage(operation, story);
        return;
      case ACTIVITY.pollVideos:
        this.polls.tick(operation);
        for (const answer of answersOf(operation, story)) this.rows.polled(answer);
        return;
      case ACTIVITY.downloadVideo:
        readDownload(operation, story);
        return;
      case ACTIVITY.downloadVideos:
        readDownloads(operation, story);
        return;
      case ACTIVITY.findVideoTask:
      case ACTIVITY.artifactStore:
      case ACTIVITY.reviewJournal:
        readLookUp(operation, story);
        return;
      case ACTIVITY.resolveUnconfirmed:
        this.people.carriedOut(operation);
        return;
      case ACTIVITY.planCampaign:
        this.campaign.plan(operation);
        return;
      case ACTIVITY.openPage:
        this.batch.page(operation);
        return;
      case ACTIVITY.createVideos:
        this.batch.creates(operation);
        return;
      case ACTIVITY.campaignImage:
        this.batch.image(operation);
        return;
      case ACTIVITY.recordRows:
      case ACTIVITY.foldResults:
        this.batch.results(operation);
        return;
      case ACTIVITY.keepBooks:
      case ACTIVITY.settleBatch:
      case ACTIVITY.countBills:
        this.campaign.book(operation);
        return;
      default:
        this.ownActivity(operation);
    }
  }

  private ownActivity(operation: Operation): void {
    const name = this.story.shown.word(operation.name) ?? 'unnamed';
    const isOver = operation.end === 'completed';
    const took = operation.endedAt === null ? '' : ` in ${shownSpan(operation.endedAt - operation.at)}`;
    const text = `Activity ${name}${isOver ? ` completed${took}` : `: ${withoutAnswer(operation).text}`}`;
    const { summary: _summary, ...facts } = workFacts(operation);
    const summary = this.story.shown.word(operation.summary);
    const tone = isOver ? 'good' : withoutAnswer(operation).tone;
    this.story.add(
      { kind: 'activity', tone, text, facts: { ...facts, ...present<Fact>({ summary }) } },
      operation,
    );
  }

  /** Recognizes this package's timers by their summaries, which user timers in these workflows do not have. */
  private timer(operation: Operation): void {
    const { story } = this;
    const summary = operation.summary ?? '';
    if (/^next poll of \d+(?: videos?)?$/.test(summary)) return this.polls.timer(operation);
    if (/^wait before the next (create|call)$/.test(summary)) return readCreateWait(operation, story);
    if (summary === 'check again' && this.isOurs) return this.campaign.check(operation);
    if (/^limit of the /.test(summary)) {
      const entry = story.limits.get(`${operation.run}/${operation.command}`) ?? this.limited();
      if (entry !== undefined) {
        entry.add(operation);
        if (operation.end === 'fired') entry.say({ facts: { ...entry.said.facts, limitReached: true } });
        return;
      }
    }
    if (!this.isOurs) {
      story.span('own_timers', operation);
      const name = story.shown.word(operation.summary);
      const span = shownSpan((operation.endedAt ?? story.lastAt) - operation.at);
      story.add(
        { kind: 'timer', text: `Timer${name === null ? '' : ` "${name}"`}: ${operation.end} after ${span}` },
        operation,
      );
      return;
    }
    // A timer without a summary either limits the wait for a decision or is the pause after an operator marked a call
    // as failed.
    if (story.undecidedSince !== null) return readDecisionWait(operation, story);
    story.span('own_backoff', operation);
    const span = shownSpan((operation.endedAt ?? story.lastAt) - operation.at);
    story.add({ kind: 'pause', tone: 'wait', text: `Paused ${span} before the next call` }, operation);
  }

  /**
   * Returns the entry that a second limit timer belongs to: the call that is still open. A cancellation starts such a
   * timer.
   */
  private limited(): OpenEntry | undefined {
    return this.story.entries.findLast(({ said }) => ['create', 'image', 'download'].includes(said.kind));
  }

  private child(operation: Operation): void {
    const { shown } = this.story;
    const id = shown.id(operation.target?.workflowId) ?? '';
    const name = shown.word(operation.name) ?? '';
    const took = operation.endedAt === null ? '' : ` after ${shownSpan(operation.endedAt - operation.at)}`;
    const result = isMediaWorkflow(operation.name) ? fieldsOf(operation.result) : {};
    const outcome = shown.word(result['outcome']);
    const why = operation.failure === null ? '' : ` (${failureWords(operation.failure)})`;
    const state =
      operation.end === 'open'
        ? 'is open'
        : operation.end === 'dropped'
          ? 'continues beyond this run'
          : `${outcome ?? operation.end.replace('_', ' ')}${why}${took}`;
    const tone =
      operation.end === 'open'
        ? 'plain'
        : operation.end === 'completed'
          ? worstTone(outcome === null ? [] : [outcome, ...Object.keys(fieldsOf(result['counts']))])
          : 'bad';
    const facts = present<Fact>({
      workflowId: id,
      runId: shown.id(operation.target?.runId || null),
      workflowType: name,
      outcome,
    });
    this.story.add({ kind: 'child', tone, text: `Child ${name} ${id}: ${state}`, facts }, operation);
  }

  private signal(operation: Operation, name: string): void {
    if (this.isOurs && isSharedPolling(operation))
      return readSharedPolling(operation, this.story, this.polls);
    if (this.isOurs && isCampaignSignal(operation.name)) {
      if (operation.name === SIGNAL.campaignOrders) {
        this.campaign.orders(operation);
        this.rows.ordered(fieldsOf(operation.input));
      } else this.campaign.report(operation);
      return;
    }
    const isSent = operation.kind === 'sent_signal';
    const to = isSent ? ` to ${this.story.shown.id(operation.target?.workflowId)}` : '';
    const text = isSent
      ? `Signal ${name}${to}${operation.end === 'failed' ? ': not delivered' : ''}`
      : `Signal ${name} arrived`;
    this.story.add(
      { kind: isSent ? 'sent_signal' : 'signal', tone: operation.end === 'failed' ? 'bad' : 'plain', text },
      operation,
    );
  }
}
