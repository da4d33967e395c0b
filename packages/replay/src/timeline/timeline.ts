import { type Billing, type Money, type MoneyTotals } from 'temporal-media';
import { type OutcomeTone } from 'temporal-media/internal/domain/campaign/row';

/** Where an entry is drawn: the group where a reader would look for it. */
export type Lane =
  | 'workflow'
  | 'create'
  | 'polls'
  | 'wait'
  | 'download'
  | 'money'
  | 'people'
  | 'campaign'
  | 'batches'
  | 'rows'
  | 'own';

/** Kinds of entries, with the lane and the meaning of each. */
export const ENTRY_KINDS = {
  started: ['workflow', 'The execution started.'],
  continued: ['workflow', 'A run ended, and the next run of the same execution continued.'],
  reset: ['workflow', 'An operator reset a run: a new run repeats everything after an event.'],
  cancel_requested: ['people', 'Someone requested that the execution be canceled.'],
  task_failure: ['workflow', 'A workflow task failed or timed out, and the server retried it.'],
  attributes: ['workflow', 'Search attributes or the memo were updated.'],
  marker: ['workflow', 'The SDK recorded a marker: a patch, a side effect or a local activity.'],
  event: ['workflow', 'Another server event, such as changed options.'],
  ended: ['workflow', 'The execution ended.'],
  create: ['create', 'One attempt to create a video: at most one paid request.'],
  reconcile: ['create', 'A worker checked the journal because a create returned no answer.'],
  create_wait: ['wait', 'A wait before the next create.'],
  image: ['create', 'One image call: at most one paid request.'],
  look_up: ['workflow', 'A worker looked something up, at no cost.'],
  polls: ['polls', 'Consecutive polls that found the same status, with their timers.'],
  poll_errors: ['polls', 'Consecutive polls that failed for the same reason, with their timers.'],
  watch: ['polls', 'A watcher polled the video or was lost, or a video joined or left its watcher.'],
  told: ['polls', 'A watcher reported the end of their watch to its videos.'],
  nudge: ['polls', 'A notification said that the task may be done, so the next poll runs earlier.'],
  retry_after: ['wait', 'A wait that the service requested (Retry-After).'],
  download: ['download', 'The download of one or more results, with all attempts.'],
  decision: ['people', 'A person decided about an unconfirmed create.'],
  decision_wait: ['wait', 'The timer that limits the wait for a decision.'],
  update: ['people', 'An Update was accepted.'],
  plan: ['campaign', 'The campaign read and planned its manifest.'],
  book: ['money', "An entry in the campaign's book: money was granted, added or settled."],
  batch: ['batches', 'A batch of the campaign, from its start to its result.'],
  orders: ['campaign', 'Orders from the campaign to a batch.'],
  report: ['campaign', 'Reports from a batch to the campaign that show the same number of ended rows.'],
  page: ['rows', "A batch read a page's rows."],
  results: ['rows', 'A batch wrote results for ended rows.'],
  alarm: ['campaign', 'Timers that made a campaign or a batch check again.'],
  pause: ['wait', 'A pause before the package retries a call.'],
  activity: ['own', 'An activity from your own code.'],
  timer: ['own', 'A timer from your own code.'],
  child: ['own', 'A child workflow.'],
  signal: ['own', 'A signal that the workflow received.'],
  sent_signal: ['own', 'A signal to another workflow.'],
} as const satisfies { readonly [kind: string]: readonly [Lane, string] };

/** The subject of an entry: a key of {@link ENTRY_KINDS}. */
export type EntryKind = keyof typeof ENTRY_KINDS;

/**
 * `good`: progress; `wait`: temporarily refused or unavailable; `bad`: lost, permanently refused, or with an unknown
 * outcome.
 */
export type Tone = 'plain' | OutcomeTone;

/** A redacted value: JSON. */
export type Fact = string | number | boolean | null | readonly Fact[] | { readonly [name: string]: Fact };
/** Redacted values by name. */
export type Facts = { readonly [name: string]: Fact };

/** Events of one run; `run` is an index into {@link Timeline.runs}. */
export interface EventIds {
  /** The run's index in the chain, from 0. */
  readonly run: number;
  /** Event ids in that run's history. */
  readonly ids: readonly number[];
}

/** Something that happened. Every event of every run belongs to exactly one entry. */
export interface TimelineEntry {
  /** Time of its first event, ISO 8601. */
  readonly at: string;
  /** Time of its last event, ISO 8601; equal to `at` for a single moment. For an open entry, `readAt` if set. */
  readonly until: string;
  /** The kind of entry. */
  readonly kind: EntryKind;
  /** How good or bad the entry is; determines its color. */
  readonly tone: Tone;
  /** What happened, in one sentence. */
  readonly text: string;
  /** The values that the text is based on, redacted. */
  readonly facts: Facts;
  /** The history events on which the entry is based. */
  readonly events: readonly EventIds[];
}

/** What the time was spent on. Each moment counts once, toward the first category that applies. */
export const SPENT = {
  downloading: 'downloading',
  poll_requests: 'poll requests',
  creating: 'creating',
  own_activities: 'your own activities',
  bookkeeping: 'plans, books and results',
  workflow_code: 'workflow code',
  workflow_failing: 'failing workflow code',
  waiting_for_worker: 'waiting for a worker',
  waiting_for_person: 'waiting for a person',
  waiting_for_key: 'waiting for a valid key (401)',
  waiting_for_money: 'waiting for money',
  waiting_for_slot: 'waiting for a slot',
  retry_after: 'pauses requested by the service',
  own_backoff: 'our own backoff',
  waiting_for_polls: 'waiting between polls',
  waiting_for_children: 'waiting for child workflows',
  own_timers: 'your own timers',
  until_reset: 'ended, waiting for the reset',
  nothing: 'nothing was scheduled',
} as const;

/** The category of a moment: a key of {@link SPENT}. */
export type SpentOn = keyof typeof SPENT;

/** Time spent in one category. */
export interface TimeSpent {
  /** The category. */
  readonly on: SpentOn;
  /** Milliseconds. */
  readonly ms: number;
}

/** All polls in all runs. */
export interface PollSummary {
  /** Number of polls. */
  readonly count: number;
  /** Time of the first poll, ISO 8601; null before the first. */
  readonly first: string | null;
  /** Time of the last poll, ISO 8601; null before the first. */
  readonly last: string | null;
  /** Longest time between the starts of two polls, in milliseconds; null with fewer than two. */
  readonly longestGapMs: number | null;
  /** Answers without a record, by class, and ticks that no worker ran. */
  readonly errors: { readonly [errorClass: string]: number };
  /** Each change of status or progress. At most 1,000; `changesLeftOut` counts the others. */
  readonly changes: readonly PollChange[];
  /** Status changes that are not listed. */
  readonly changesLeftOut: number;
}

/** A change of status or progress that a poll found. */
export interface PollChange {
  /** When the poll found the change, ISO 8601. */
  readonly at: string;
  /** The task that was polled. */
  readonly taskId: string | null;
  /** The new status. */
  readonly status: string | null;
  /** Progress in percent; null when the service reported none. */
  readonly progress: number | null;
}

export const MAX_CHANGES = 1_000;

/** What was or may have been paid. Null means unknown, never free. */
export interface MoneySummary {
  /** Estimate from the price rules, in millionths of the currency unit; null when unknown. */
  readonly estimate: Money | null;
  /** What was billed by the time of the outcome; null if nothing was. */
  readonly actual: Money | null;
  /** The outcome's billing state; null while there is none. */
  readonly state: Billing['state'] | null;
  /** Whether the service reported `usage`. */
  readonly usageReported: boolean;
  /** A campaign's totals, in micro-units of `currency`. */
  readonly totals?: MoneyTotals & { readonly currency: string | null };
  /** A campaign's budget, in micro-units. */
  readonly budget?: number;
}

/** `budget`: no money was left; `attempts`: all attempts were used; `cancelled`: the campaign was canceled. */
export type NoAttempt = 'budget' | 'attempts' | 'cancelled';

/** A campaign row, as its batches' histories show it. */
export interface TimelineRow {
  /** The row's key in the manifest. */
  readonly key: string;
  /** The row's line number in the manifest; null if unknown. */
  readonly line: number | null;
  /** The batch that ran the row. */
  readonly batch: number | null;
  /** Its outcome, or its last known step. */
  readonly state: string;
  /** How good or bad the result is; determines its color. */
  readonly tone: Tone;
  /** The row's model. */
  readonly model: string | null;
  /** Task id; null when none is known. */
  readonly taskId: string | null;
  /** Number of creates, including those of later attempts. */
  readonly creates: number;
  /** Number of polls. */
  readonly polls: number;
  /** When work on the row started, ISO 8601; null if unknown. */
  readonly startedAt: string | null;
  /** When the service accepted the create, ISO 8601; null if it did not. */
  readonly createdAt: string | null;
  /** When the row ended, ISO 8601; null while it is open. */
  readonly finishedAt: string | null;
  /** Why the row was rejected, its content was unavailable or a poll failed; for a failed video, the code. */
  readonly reason: string | null;
  /** Why an ended row has no result, in one word; null if it has a result or the reason is unknown. */
  readonly kind: string | null;
  /** The service's error code. */
  readonly code: string | null;
  /** Why the row got no attempt, or no further one; null if none was due, or the reason is unknown. */
  readonly noAttempt: NoAttempt | null;
  /** What the row may cost, in micro-units; null if unknown. */
  readonly cost: number | null;
}

/** One run of an execution. */
export interface TimelineRun {
  /** The run's id. */
  readonly runId: string;
  /** The file or server that the history came from. */
  readonly source: string;
  /** When the run started, ISO 8601; null for a history without events. */
  readonly startedAt: string | null;
  /** When the run closed, ISO 8601; null while it is open. */
  readonly endedAt: string | null;
  /** Number of events in the history. */
  readonly events: number;
  /** How the run ended; `open` if its history has no end. */
  readonly end:
    | 'completed'
    | 'failed'
    | 'timed_out'
    | 'cancelled'
    | 'terminated'
    | 'continued_as_new'
    | 'open';
  /**
   * If an operator's reset created this run, the run and the event that it was reset to. This run repeats everything
   * after that event. Otherwise null.
   */
  readonly resetFrom: { readonly runId: string; readonly eventId: number } | null;
}

/** The timeline of one execution: `timeline` in the output of `replay`, and the data for its page. */
export interface Timeline {
  readonly v: 1;
  /** The workflow's id. */
  readonly workflowId: string;
  /** The workflow's type. */
  readonly workflowType: string;
  /** The workflow that started this one; null if none. */
  readonly parent: { readonly workflowId: string; readonly runId: string } | null;
  /** The runs of the chain, oldest first. */
  readonly runs: readonly TimelineRun[];
  /** When the execution started, ISO 8601; null if unknown. */
  readonly startedAt: string | null;
  /** Time of the last event, ISO 8601. */
  readonly lastEventAt: string | null;
  /** When an open execution's history was read from the server; null for an ended execution, and for files. */
  readonly readAt: string | null;
  /** The outcome that was returned, or how the execution ended without one; null while it is open. */
  readonly outcome: string | null;
  /** The meaning of the outcome and what is safe to do, unless it is `completed`. */
  readonly advice: string | null;
  /** The video's task id; null if unknown. */
  readonly taskId: string | null;
  /** The creation key; null when the workflow buys nothing. */
  readonly creationKey: string | null;
  /** The requested model; null when unknown. */
  readonly model: string | null;
  /** The account that paid; null when unknown. */
  readonly account: string | null;
  /** When the wait ends, ISO 8601; null if nothing is awaited. */
  readonly deadlineAt: string | null;
  /** The amount spent or possibly owed. */
  readonly money: MoneySummary;
  /** Paid requests that were sent, according to these histories; children are not included. */
  readonly sends: number;
  /** Paid requests that the service refused. A request that was neither refused nor accepted has an unknown outcome. */
  readonly sendsRefused: number;
  /** Paid requests that the service accepted. */
  readonly sendsAccepted: number;
  /** The polls, summarized. */
  readonly polls: PollSummary;
  /**
   * The times add up to the span from `startedAt` to `readAt`, or to `lastEventAt` if `readAt` is null. Contains only
   * times above 0, longest first.
   */
  readonly spent: readonly TimeSpent[];
  /** What happened, in the order of the first events. */
  readonly entries: readonly TimelineEntry[];
  /** The rows of a campaign or a batch. */
  readonly rows: readonly TimelineRow[];
  /** Timelines of the children that were loaded. */
  readonly children: readonly Timeline[];
}
