import { type LoadedRun } from '../loaded-history';
import { endedBy, failureWords } from './failure-facts';
import { type Operation } from './operations';
import { errorFacts } from './paid-entries';
import { type OpenEntry, type Story } from './story';
import { type Pause, pauseOn, pauseSpans } from './time-spent';
import { type Fact, type Tone } from './timeline';
import { counted, type Fields, fieldsOf, listOf, numberOf, present, shownSpan, textOf } from './values';
import { pollsByWatchers, type WatcherLoss, watcherLosses } from './watcher-polls';

/** One task's answer in a tick. */
export interface TaskAnswer {
  readonly taskId: string;
  /** Null when the record is unchanged, or there is none. */
  readonly record: { readonly status: string | null; readonly progress: number | null } | null;
  readonly error: string | null;
  readonly httpStatus: number | null;
  readonly retryAfterMs: number | null;
  readonly facts: { readonly [name: string]: Fact };
}

/** Returns the answers of one `media.pollVideos`, one per task, in input order. */
export function answersOf(operation: Operation, story: Story): TaskAnswer[] {
  const batches = listOf(fieldsOf(operation.input)['byModel']);
  const ids = batches.flatMap((batch) => listOf(fieldsOf(batch)['ids']));
  const got = new Map(
    listOf(fieldsOf(operation.result)['answers']).map((answer) => [
      fieldsOf(answer)['index'],
      fieldsOf(answer),
    ]),
  );
  return ids.map((id, index) => {
    const answer = got.get(index) ?? {};
    const record = fieldsOf(answer['record']);
    const missed = operation.end === 'completed' || operation.end === 'open' ? null : 'worker_unavailable';
    return {
      taskId: textOf(id) ?? '',
      record:
        answer['record'] === undefined
          ? null
          : { status: story.shown.word(record['status']), progress: numberOf(record['progress']) },
      error: missed ?? story.shown.word(answer['error']),
      httpStatus: numberOf(answer['httpStatus']),
      retryAfterMs: numberOf(answer['retryAfterMs']),
      facts: { ...errorFacts(answer['reason'], story.shown), ...errorFacts(record['error'], story.shown) },
    };
  });
}

/** Collects one workflow's polls across all of its runs. */
export class PollReader {
  private readonly last = new Map<string, { status: string | null; progress: number | null }>();
  private group: PollGroup | undefined;
  /** Timers that have not been followed by a tick yet. */
  private timers: Operation[] = [];
  /**
   * Why the next poll is delayed, and since when, in milliseconds since 1970; null if polling continues at the normal
   * interval.
   */
  private pause: (Pause & { from: number | null; readonly isOfOne: boolean }) | null = null;

  constructor(
    private readonly story: Story,
    /** Runs of the watchers that polled the video; undefined if the server was not queried for them. */
    private readonly watchers: readonly LoadedRun[] | undefined,
  ) {}

  /** Sets a status that was known before the first poll, from the create's reply or the previous run. */
  know(taskId: string | null, status: string | null, progress: number | null): void {
    if (taskId !== null) this.last.set(taskId, { status, progress });
  }

  timer(operation: Operation): void {
    const { story, pause } = this;
    if (pause === null) story.span('waiting_for_polls', operation);
    else {
      // The pause that the service requested starts when the workflow task read the answer, which is also when the
      // first timer began.
      pause.from ??= operation.at;
      story.spans.push(...pauseSpans(pause.from, operation.endedAt ?? story.lastAt, pause));
    }
    if (pause?.isOfOne === true && pause.askedMs !== null) {
      const facts = { retryAfterMs: pause.askedMs };
      const span = shownSpan((operation.endedAt ?? story.lastAt) - operation.at);
      const text = `Waited ${span} before the next poll: the service requested ${shownSpan(pause.askedMs)} (Retry-After)`;
      this.pause = null;
      this.group = undefined;
      story.add({ kind: 'retry_after', tone: 'wait', text, facts }, operation);
      return;
    }
    this.timers.push(operation);
  }

  /** Timers without a following tick are added to the polls before them, or become a separate entry. */
  close(run: number): void {
    const left = this.timers.filter((timer) => timer.run === run);
    this.timers = this.timers.filter((timer) => timer.run !== run);
    for (const timer of left) {
      this.group ??= this.open('', timer);
      this.group.entry.add(timer);
      this.group.show();
    }
    this.group = undefined;
  }

  tick(operation: Operation): void {
    const { story } = this;
    const answers = answersOf(operation, story);
    this.count(operation, answers);
    const word = classOf(answers, this.last);
    if (this.group === undefined || this.group.word !== word || this.group.run !== operation.run)
      this.group = this.open(word, this.timers[0] ?? operation);
    const { group } = this;
    for (const timer of this.timers.splice(0)) group.entry.add(timer);
    group.entry.add(operation);
    group.ticks += 1;
    group.first ??= operation.at;
    if (group.lastAt !== null) group.longestGapMs = Math.max(group.longestGapMs, operation.at - group.lastAt);
    group.lastAt = operation.at;
    group.tasks = Math.max(group.tasks, answers.length);
    if (operation.failure !== null) group.failure = failureWords(operation.failure);
    if (operation.end === 'open') group.isOpen = true;
    for (const answer of answers) this.note(answer, group, operation);
    group.show();
    const pause = pauseAfter(answers);
    this.pause = pause === null ? null : { ...pause, from: null, isOfOne: answers.length === 1 };
  }

  /**
   * Adds the polls that a watcher made in a watch. @returns the number of polls; null if the watcher's histories are
   * not available
   */
  byWatcher(watch: Operation): number | null {
    if (this.watchers === undefined) return null;
    const polls = pollsByWatchers(this.watchers, watch);
    polls.forEach((poll, index) => {
      this.tick(poll);
      const next = polls[index + 1]?.at ?? watch.endedAt ?? this.story.lastAt;
      if (this.pause !== null) this.story.spans.push(...pauseSpans(poll.until, next, this.pause));
    });
    this.group = undefined;
    this.pause = null;
    for (const loss of watcherLosses(this.watchers, watch)) this.lost(loss, watch);
    return polls.length;
  }

  /** Adds the time between a watcher's lost run and its next run, during which nothing polled the video. */
  private lost({ end, backAt }: WatcherLoss, watch: Operation): void {
    const { shown } = this.story;
    const how = end.end === 'failed' ? 'failed' : `was ${end.end.replace('_', ' ')}`;
    const back =
      backAt === null
        ? 'no new run has started'
        : `its next run took over after ${shownSpan(backAt - end.at)}`;
    const text = `The watcher ${how}${endedBy(end.event, end.failure, shown)}; ${back}`;
    const facts = present<Fact>({ end: end.end, tookOverAfterMs: backAt === null ? null : backAt - end.at });
    const moment = { ...watch, at: end.at, until: backAt ?? end.at, ids: [], attempt: 1 };
    this.story.add({ kind: 'watch', tone: backAt === null ? 'bad' : 'wait', text, facts }, moment);
  }

  /** Adds the end of a watcher's watch, and the polls that no available history shows. */
  shared(
    { at, endedAt }: Operation,
    { state, made }: { readonly state: Fields; readonly made: number },
  ): void {
    const { polls } = this.story;
    const last = numberOf(state['lastPollAt']);
    polls.count += made;
    if (last !== null && made > 0) {
      if (made === 1) polls.first ??= last;
      polls.last = last;
    }
    const status = this.story.shown.word(state['lastStatus']);
    const progress = numberOf(state['progress']);
    const taskId = this.story.shown.id(fieldsOf(state['video'])['taskId']);
    if (made > 0) this.story.changed({ at: new Date(endedAt ?? at).toISOString(), taskId, status, progress });
    this.know(taskId, status, progress);
    this.group = undefined;
  }

  private count({ at }: Operation, answers: readonly TaskAnswer[]): void {
    const { polls } = this.story;
    polls.count += 1;
    polls.first ??= at;
    if (polls.last !== null) polls.longestGapMs = Math.max(polls.longestGapMs ?? 0, at - polls.last);
    polls.last = at;
    for (const { error } of answers) if (error !== null) polls.errors[error] = (polls.errors[error] ?? 0) + 1;
  }

  private note(answer: TaskAnswer, group: PollGroup, operation: Operation): void {
    if (answer.error !== null) {
      group.errors.set(answer.error, (group.errors.get(answer.error) ?? 0) + 1);
      group.httpStatus = answer.httpStatus ?? group.httpStatus;
    }
    group.facts = { ...group.facts, ...answer.facts };
    if (answer.record === null) return;
    const { status, progress } = answer.record;
    const before = this.last.get(answer.taskId);
    if (before?.status === status && before.progress === progress) return;
    this.last.set(answer.taskId, { status, progress });
    group.changes.push({ status, progress });
    this.story.changed({
      at: new Date(operation.endedAt ?? operation.at).toISOString(),
      taskId: this.story.shown.id(answer.taskId),
      status,
      progress,
    });
  }

  private open(word: string, first: Operation): PollGroup {
    const entry = this.story.add({ kind: 'polls', text: '' }, { ...first, ids: [], until: first.at });
    return new PollGroup(entry, word, first.run);
  }
}

/** Errors after which polling continues at the normal interval: nothing was sent, or the answer is unknown. */
const NO_PAUSE: readonly string[] = ['late', 'worker_unavailable', 'account_not_configured'];

/**
 * Returns the pause after a tick in which every poll failed. With several tasks, this is the shortest pause that the
 * service requested.
 */
function pauseAfter(answers: readonly TaskAnswer[]): Pause | null {
  const errors = answers.map(({ error }) => error ?? NO_ERROR);
  if (answers.length === 0 || errors.includes(NO_ERROR)) return null;
  const asked = answers.map(({ retryAfterMs }) => retryAfterMs ?? 0);
  const askedMs = Math.min(...asked) || null;
  if (askedMs === null && errors.every((error) => NO_PAUSE.includes(error))) return null;
  const isOfKey = errors.every((error) => error === errors[0]);
  return { on: pauseOn(isOfKey ? errors[0] : null), askedMs };
}

const NO_ERROR = '';

/** Returns what the ticks in one entry have in common: the error, or the status after them. */
function classOf(
  answers: readonly TaskAnswer[],
  last: ReadonlyMap<string, { readonly status: string | null }>,
): string {
  if (answers.length > 1) {
    if (answers.every(({ error }) => error !== null)) return 'error all';
    return answers.some(({ error }) => error !== null) ? 'some errors' : 'tasks';
  }
  const [only] = answers;
  if (only === undefined) return 'tasks';
  if (only.error !== null) return `error ${only.error}`;
  return `status ${only.record?.status ?? last.get(only.taskId)?.status ?? ''}`;
}

class PollGroup {
  ticks = 0;
  tasks = 0;
  first: number | null = null;
  lastAt: number | null = null;
  longestGapMs = 0;
  isOpen = false;
  failure: string | null = null;
  httpStatus: number | null = null;
  facts: { [name: string]: Fact } = {};
  readonly errors = new Map<string, number>();
  readonly changes: { readonly status: string | null; readonly progress: number | null }[] = [];

  constructor(
    readonly entry: OpenEntry,
    readonly word: string,
    readonly run: number,
  ) {}

  show(): void {
    const isError = this.word.startsWith('error ');
    const facts = present<Fact>({
      polls: this.ticks,
      tasks: this.tasks > 1 ? this.tasks : null,
      first: iso(this.first),
      last: iso(this.lastAt),
      longestGapMs: this.longestGapMs === 0 ? null : this.longestGapMs,
      errors: this.errors.size === 0 ? null : Object.fromEntries(this.errors),
      httpStatus: this.httpStatus,
      failure: this.failure,
      changes: this.changes.length === 0 ? null : this.changes.slice(0, 200).map(changeText),
      ...this.facts,
    });
    this.entry.say({
      kind: isError ? 'poll_errors' : 'polls',
      tone: isError ? 'wait' : this.tone(),
      text: `${this.many()}: ${isError ? this.errorText() : this.found()}`,
      facts,
    });
  }

  private tone(): Tone {
    const [, status] = this.word.split(' ', 2);
    if (status === 'failed') return 'bad';
    return this.errors.size > 0 ? 'wait' : 'plain';
  }

  private many(): string {
    const gap = this.ticks > 1 ? ` in ${shownSpan((this.lastAt ?? 0) - (this.first ?? 0))}` : '';
    const tasks = this.tasks > 1 ? ` of up to ${counted(this.tasks, 'task')}` : '';
    return this.ticks === 0 ? 'Wait for the next poll' : `${counted(this.ticks, 'poll')}${tasks}${gap}`;
  }

  private errorText(): string {
    const names = [...this.errors].map(([name, count]) => (this.tasks > 1 ? `${count} ${name}` : name));
    const status = this.httpStatus === null ? '' : ` (HTTP ${this.httpStatus})`;
    return `${names.join(', ')}${status}`;
  }

  private found(): string {
    if (this.ticks === 0) return 'ended before the poll';
    if (this.isOpen) return 'the last poll is running';
    if (this.tasks > 1) {
      const errors = this.errors.size === 0 ? '' : `; ${this.errorText()}`;
      return `${this.statusCounts()}${errors}`;
    }
    const last = this.changes.at(-1);
    if (last === undefined) return 'nothing new';
    const moved = this.changes.flatMap(({ progress }) => progress ?? []);
    const from = moved[0];
    const to = moved.at(-1);
    const progress = to === undefined ? '' : from === to ? `, ${to}%` : `, ${from}% to ${to}%`;
    return `${last.status ?? 'no status'}${progress}`;
  }

  private statusCounts(): string {
    const counts = new Map<string, number>();
    for (const { status } of this.changes) counts.set(status ?? '?', (counts.get(status ?? '?') ?? 0) + 1);
    if (counts.size === 0) return 'nothing new';
    return [...counts].map(([status, count]) => `${count} ${status}`).join(', ');
  }
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

function changeText({
  status,
  progress,
}: {
  readonly status: string | null;
  readonly progress: number | null;
}): string {
  return progress === null ? (status ?? '?') : `${status ?? '?'} ${progress}%`;
}
