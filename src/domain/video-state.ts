import { type CreateStep } from './create-once';
import { type RejectReason } from './failure-table';
import { given } from './json';
import { type Money } from './money';
import { type ImageOutcome, type WatchFacts } from './outcome';
import { type CreateEvidence, type CreateVideoAnswer, type FullLimit } from './paid-call';
import { type VideoTask } from './video-task';

/** A paid call that is waiting to be sent, as the `waits` query reports it for single calls and campaigns. */
export interface CallWait {
  /** Human-readable sentences that say why it is waiting and, if known, since when. */
  readonly why: string;
  /** When it is next attempted: milliseconds since the Unix epoch, in workflow time. */
  readonly until: number;
  /** The rejection reason to use when the start limit is reached, if a person has to fix something; otherwise null. */
  readonly reason: RejectReason | null;
  /** The call's account, if a worker has resolved it. */
  readonly account: string | null;
  /** The spend limit that it does not fit in. */
  readonly limit?: FullLimit;
}

/** Returns the wait that follows from a paid activity's answer. */
export function callWait(
  { why, until }: Extract<CreateStep, { do: 'wait' }>,
  answer: CreateVideoAnswer,
): CallWait {
  const reason = 'reason' in answer ? (answer.reason ?? null) : null;
  const limit = 'limit' in answer ? answer.limit : undefined;
  return { why, until, reason, account: answer.account, ...given({ limit }) };
}

/**
 * Result of the `video_state` query: the video's current state. Contains no prompts, API keys or URLs. Times are ISO
 * 8601 in workflow time.
 */
export interface VideoState {
  /** `waiting_to_create`: nothing is sent before `nextCreateAt`. `unconfirmed`: a person has to decide. */
  readonly phase: 'creating' | 'waiting_to_create' | 'unconfirmed' | 'watching' | 'downloading' | 'done';
  /** Null for a task that is awaited by id. */
  readonly creationKey: string | null;
  /** Set before `video` if the task is awaited by id. */
  readonly taskId: string | null;
  /** Null before the task exists or is known. */
  readonly video: VideoTask | null;
  /**
   * Estimate from the price rule, set when the task was created. Null before that, without a rule, and for a task that
   * is awaited by id.
   */
  readonly estimate: Money | null;
  /** Null before the task exists. */
  readonly deadlineAt: string | null;
  /** ISO 8601. */
  readonly nextPollAt: string | null;
  /** Time of the next create; null if none is scheduled. */
  readonly nextCreateAt: string | null;
  /** Why nothing has been sent yet, in human-readable form; null in other phases. */
  readonly waitingFor: string | null;
  /** How many times the create was sent. */
  readonly sends: number;
  /** Only in the `unconfirmed` phase: evidence about the create that a person has to settle. */
  readonly evidence?: CreateEvidence;
  /** Null before the wait begins. */
  readonly watch: WatchFacts | null;
  /**
   * Workflow id of the watcher that polls this video; only with shared polling. Only the watcher has the facts about
   * its polls, and the client's `videoState` adds them.
   */
  readonly watcher?: string;
  /** When the record last changed; null before the first record. */
  readonly lastChangeAt: string | null;
  /** ISO 8601. */
  readonly lastPollAt: string | null;
  /** Number of polls that the service answered or that failed in transit. */
  readonly polls: number;
  /** 200 if the last poll returned a record, otherwise the error's status; null without an answer. */
  readonly lastHttpStatus: number | null;
  /** Consecutive polls without a record. A tick that no worker ran does not count; `watch.lastError` reports it. */
  readonly consecutiveErrors: number;
  /** How the video ended; null while its workflow is running. */
  readonly outcome: string | null;
}

/** Status values that are safe to show. The service can send any text. */
const WORD = /^[a-z][a-z _-]{0,31}$/;

const TITLES: { readonly [phase in VideoState['phase']]: string } = {
  creating: 'Creating',
  waiting_to_create: 'Waiting to create',
  unconfirmed: 'Unconfirmed: waiting for a decision',
  watching: 'Watching',
  downloading: 'Downloading',
  done: 'Done',
};

/**
 * Returns a video workflow's details panel for the UI, with the facts from the `video_state` query as Markdown
 * (architecture: Wait).
 */
export function videoDetails(state: VideoState): string {
  const { account } = state.video ?? { account: null };
  return detailsText(title(state), SAFE_NOW, [
    ['task', code(state.taskId)],
    ['account', code(account)],
    ['creation key', code(state.creationKey)],
    ['next create', state.nextCreateAt],
    ['because', code(state.waitingFor)],
    ['refused sends', state.sends === 0 ? null : String(state.sends)],
    ['deadline', state.deadlineAt],
    ['polled by', code(state.watcher ?? null)],
    ['next poll', state.nextPollAt],
    ['polls', polls(state)],
    ['last change', state.lastChangeAt],
    ['trouble', trouble(state)],
  ]);
}

function title({ phase, outcome, watch }: VideoState): string {
  if (phase === 'done') return outcome === null ? TITLES.done : `${TITLES.done}: ${outcome}`;
  if (phase !== 'watching' || watch === null || watch.lastStatus === null) return TITLES[phase];
  const word = WORD.test(watch.lastStatus) ? watch.lastStatus : 'an unusual status';
  // Shows a number only if the service sent one (C2.2.4).
  return `${TITLES.watching}: ${word}${watch.progress === undefined ? '' : `, ${watch.progress}%`}`;
}

function polls({ polls: count, lastPollAt, lastHttpStatus, watch }: VideoState): string | null {
  if (watch === null || lastPollAt === null) return null;
  return `${count}, most recently at ${lastPollAt}${lastHttpStatus === null ? '' : ` with HTTP ${lastHttpStatus}`}`;
}

function trouble({ watch, consecutiveErrors }: VideoState): string | null {
  if (watch?.lastError === undefined) return null;
  const inARow = consecutiveErrors > 1 ? `, ${consecutiveErrors} times in a row` : '';
  return `${watch.lastError.class}${inARow}`;
}

const code = (text: string | null): string | null => (text === null ? null : inCode(text));

/**
 * Shown in every paid call's panel. What is safe to do depends on facts that the workflow does not have: the workers,
 * the service, and decisions made since.
 */
const SAFE_NOW =
  'Do not make this call under another id: you may already be charged for it. Run `temporal-media status` on this workflow to see what is safe to do.';

/** Maximum length of untrusted text in a details panel, in characters. */
const MAX_TEXT = 128;

/**
 * Formats untrusted text as Markdown code, so that it cannot become a link, a heading or a new line. Never throws, even
 * for an untyped value that is not a string, because an exception in a panel would block a workflow that has already
 * bought something.
 */
export function inCode(text: string): string {
  const line = String(text).replace(/[`\s]+/g, ' ');
  return `\`${line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line}\``;
}

/**
 * Returns Markdown for the UI's details panel: a title with the current state, what is safe to do, and one line per
 * known fact.
 */
export function detailsText(
  title: string,
  safe: string,
  facts: readonly (readonly [name: string, value: string | null])[],
): string {
  const known = facts.flatMap(([name, value]) => (value === null ? [] : [`- ${name}: ${value}`]));
  return [`**${title}**`, '', safe, '', ...known].join('\n').trimEnd();
}

/** Returns a watcher's details panel for the UI. */
export function watcherDetails(watcher: {
  readonly account: string | null;
  readonly videos: number;
}): string {
  const { account, videos } = watcher;
  const safe =
    'It polls the tasks of these videos and buys nothing. If it is stopped, they join another run within seconds.';
  return detailsText(`Watching ${videos} ${videos === 1 ? 'video' : 'videos'}`, safe, [
    ['account', code(account)],
  ]);
}

/**
 * Returns an image workflow's details panel for the UI. `outcome` is null while the call is in progress (architecture:
 * Images).
 */
export function imageDetails(
  creationKey: string | null,
  outcome: Pick<ImageOutcome, 'outcome'> | null,
  waiting: CallWait | null = null,
): string {
  const now = waiting === null ? 'Calling the service' : 'Waiting to call the service';
  return detailsText(outcome === null ? now : `Done: ${outcome.outcome}`, SAFE_NOW, [
    ['creation key', code(creationKey)],
    ['next call', waiting === null ? null : new Date(waiting.until).toISOString()],
    ['because', code(waiting?.why ?? null)],
  ]);
}
