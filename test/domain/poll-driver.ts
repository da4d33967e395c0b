import { verdictWithoutRecord, type WatchVerdict } from '../../src/domain/end-of-wait';
import { type PollAnswer, type PolledRecord } from '../../src/domain/poll-answers';
import { type LastTick, PollGroup, type PollPace } from '../../src/domain/poll-cadence';
import { DEFAULT_WAIT_MS } from '../../src/domain/timeouts';
import { type PollingProfile, type VideoTask } from '../../src/domain/video-task';
import {
  beginWatch,
  onMissedTick,
  type PollFailure,
  type Watch,
  type WatchState,
} from '../../src/domain/watch-state';
import { makeVideoTask } from './make-video-task';

export const START = Date.UTC(2026, 0, 1);
export const MINUTE = 60_000;

/** What the service does with one poll: a record, no change, an error, or the whole tick is lost. */
export type Reply = PolledRecord | 'unchanged' | 'missed' | PollFailure;
export type Service = (poll: {
  readonly task: VideoTask;
  readonly at: number;
  readonly count: number;
}) => Reply;

export const record = (phase: PolledRecord['phase'], changes: Partial<PolledRecord> = {}): PolledRecord => ({
  status: phase,
  phase,
  ...changes,
});

export interface Driven {
  readonly state: WatchState;
  readonly verdict: WatchVerdict;
  readonly endedAt: number;
  /** Times at which this task was asked for, in milliseconds from the start. */
  readonly polls: readonly number[];
  readonly states: readonly WatchState[];
}

export interface DriveOptions {
  readonly service: Service;
  readonly waitMs?: number;
  readonly hardEndMs?: number;
  readonly profile?: PollingProfile;
  /** @default of a create of ours */
  readonly source?: VideoTask['source'];
  readonly tasks?: number;
  readonly slow?: { readonly afterMs: number; readonly intervalMs: number };
  readonly pace?: PollPace;
  /** By how much a timer comes late. */
  readonly lateMs?: (wake: number) => number;
  /** How long the activity of a tick takes. */
  readonly tickMs?: number;
  readonly random?: () => number;
  /** Every so many wakes, group and watches go through JSON into new objects, as continue-as-new does. */
  readonly snapshotEvery?: number;
}

/** Runs a PollGroup in virtual time, as PollLoop does it with timers and activities. */
export function drive(options: DriveOptions): Driven[] {
  const { service, waitMs = DEFAULT_WAIT_MS, tickMs = 0, tasks = 1, random = () => 0.5 } = options;
  const first = makeVideoTask({
    ...(options.profile === undefined ? {} : { polling: options.profile }),
    ...(options.source === undefined ? {} : { source: options.source }),
  });
  let group = new PollGroup(first.polling, options.slow, options.pace);
  let now = START;
  let watches: Watch[] = Array.from({ length: tasks }, (_, index) => ({
    state: beginWatch({
      video: { ...first, taskId: `task-${index}` },
      now,
      deadlineAt: now + waitMs,
      firstPollAt: now + first.polling.firstPollSeconds * 1000,
      hardEndAt: options.hardEndMs === undefined ? null : now + options.hardEndMs,
    }),
  }));
  const polls = new Map<string, number[]>(watches.map(({ state }) => [state.video.taskId, []]));
  const history = new Map<string, WatchState[]>(watches.map(({ state }) => [state.video.taskId, []]));
  const done: Driven[] = [];
  const finish = (watch: Watch, verdict: WatchVerdict): void => {
    const { state } = watch;
    const { taskId } = state.video;
    watches = watches.filter((other) => other !== watch);
    const driven = { polls: polls.get(taskId) ?? [], states: history.get(taskId) ?? [] };
    done.push({ state, verdict, endedAt: now - START, ...driven });
  };
  const settle = (): void => {
    for (const watch of watches) {
      const verdict = verdictWithoutRecord(watch.state, now);
      if (verdict !== undefined) finish(watch, verdict);
    }
  };
  for (let wake = 1; watches.length > 0; wake++) {
    if (wake > 50_000) throw new Error('the wait never ended');
    if (options.snapshotEvery !== undefined && wake % options.snapshotEvery === 0) {
      const last = JSON.parse(JSON.stringify(group.last)) as LastTick;
      group = new PollGroup(first.polling, options.slow, options.pace, last);
      watches = JSON.parse(JSON.stringify(watches)) as Watch[];
    }
    const wakeAt = group.nextWakeAt(watches);
    if (wakeAt > now) now = wakeAt + (options.lateMs?.(wake) ?? 0);
    const before = watches.length;
    settle();
    if (watches.length === 0) break;
    const due = group.beginTick(watches, now, random());
    // A wake that neither polls nor ends anything would spin for ever in a workflow.
    if (due.length === 0 && watches.length === before && group.nextWakeAt(watches) <= now)
      throw new Error(`busy loop at ${now - START}: ${JSON.stringify(watches[0])}`);
    if (due.length === 0) continue;
    const at = now;
    now += tickMs;
    const { input, ordered } = group.tickInput(first.account, due);
    const ids = input.byModel.flatMap((batch) => batch.ids);
    ordered.forEach((watch, index) => {
      const { state } = watch;
      if (ids[index] !== state.video.taskId) throw new Error('order does not lead back to the tasks');
      const times = polls.get(state.video.taskId) as number[];
      const reply = service({ task: state.video, at: at - START, count: times.length });
      times.push(at - START);
      const next = applyReply(group, state, reply, { at, answeredAt: now, index, random: random() });
      history.get(state.video.taskId)?.push(next.state);
      watch.state = next.state;
      if (next.verdict !== undefined) finish(watch, next.verdict);
    });
    settle();
  }
  return done;
}

function applyReply(
  group: PollGroup,
  state: WatchState,
  reply: Reply,
  tick: { readonly at: number; readonly answeredAt: number; readonly index: number; readonly random: number },
): { state: WatchState; verdict?: WatchVerdict } {
  const { at, answeredAt, index, random } = tick;
  if (reply === 'missed') return { state: onMissedTick(state, at) };
  if (reply === 'unchanged') return group.apply(state, undefined, at, random);
  const answer: PollAnswer =
    'error' in reply && !('phase' in reply)
      ? { index, ...reply }
      : { index, digest: `${index}-${at}`, record: reply };
  return group.apply(state, answer, at, random, answeredAt);
}

/** One task, one watch. */
export function driveOne(options: DriveOptions): Driven {
  return drive(options)[0] as Driven;
}

export function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] as number));
}
