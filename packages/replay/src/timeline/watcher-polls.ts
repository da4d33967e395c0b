import { ACTIVITY } from 'temporal-media/internal/domain/names';
import { type LoadedRun } from '../loaded-history';
import { type Operation, operationsOf } from './operations';
import { fieldsOf, listOf, textOf } from './values';

/** A watch of one video by a watcher. */
export interface WatchByWatcher {
  /** The watcher's workflow id. */
  readonly watcher: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Null while the watcher is polling. */
  readonly to: number | null;
}

/** Returns the watches in one run of a video's workflow. */
export function watchesOf(run: LoadedRun): readonly WatchByWatcher[] {
  return operationsOf(run, 0).operations.flatMap(({ kind, name, input, at, endedAt }) => {
    const watcher = textOf(fieldsOf(fieldsOf(input)['watcher'])['workflowId']);
    return kind === 'activity' && name === ACTIVITY.watchVideo && watcher !== null
      ? [{ watcher, from: at, to: endedAt }]
      : [];
  });
}

/**
 * Finds a video's polls in the watchers' histories, each as if the video had been polled alone. These polls have no
 * events in the video's own history.
 */
export function pollsByWatchers(
  runs: readonly LoadedRun[],
  { run, input, at: from, endedAt }: Operation,
): Operation[] {
  const { watcher, state } = fieldsOf(input);
  const taskId = fieldsOf(fieldsOf(state)['video'])['taskId'];
  const watcherId = fieldsOf(watcher)['workflowId'];
  const found = runs
    .filter(({ workflowId }) => workflowId === watcherId)
    .flatMap((one) => operationsOf(one, 0).operations)
    .filter(({ kind, name, end }) => kind === 'activity' && name === ACTIVITY.pollVideos && isOver(end))
    .filter(({ at }) => at >= from && at <= (endedAt ?? Infinity));
  return found
    .flatMap((tick) => {
      const ids = listOf(fieldsOf(tick.input)['byModel']).flatMap((batch) => listOf(fieldsOf(batch)['ids']));
      const index = ids.indexOf(taskId);
      if (index < 0) return [];
      const answer = listOf(fieldsOf(tick.result)['answers']).find((one) => fieldsOf(one)['index'] === index);
      const answers = answer === undefined ? [] : [{ ...fieldsOf(answer), index: 0 }];
      return [{ ...tick, run, ids: [], input: { byModel: [{ ids: [taskId] }] }, result: { answers } }];
    })
    .sort((a, b) => a.at - b.at);
}

/** A watcher run that ended while it still had videos. Times are in milliseconds since 1970. */
export interface WatcherLoss {
  /** The end of the lost run. */
  readonly end: Operation;
  /** When another run of the watcher started; null if none has. */
  readonly backAt: number | null;
}

/** Finds each time the watcher was lost during a watch. Videos that received no result join the watcher's next run. */
export function watcherLosses(
  runs: readonly LoadedRun[],
  { input, at: from, endedAt }: Operation,
): WatcherLoss[] {
  const watcherId = fieldsOf(fieldsOf(input)['watcher'])['workflowId'];
  const read = runs.filter(({ workflowId }) => workflowId === watcherId).map((one) => operationsOf(one, 0));
  const begins = read.flatMap(({ firstAt }) => firstAt ?? []).sort((a, b) => a - b);
  // A reset also ends a run, and the new run has its videos from the start.
  const reset = read.flatMap(({ operations }) =>
    operations.flatMap(({ kind, target }) => (kind === 'reset' ? [target?.runId] : [])),
  );
  return read
    .filter(({ run }) => !reset.includes(run.runId))
    .flatMap(({ operations }) => operations.filter(({ end }) => LOST.includes(end)))
    .filter(({ kind, at }) => kind === 'end' && at >= from && at <= (endedAt ?? Infinity))
    .sort((a, b) => a.at - b.at)
    .map((end) => ({ end, backAt: begins.find((at) => at >= end.at) ?? null }));
}

const LOST: readonly Operation['end'][] = ['terminated', 'failed', 'timed_out', 'cancelled'];

/** Whether a tick's answers were recorded. They are not if the tick is still running or its run ended first. */
const isOver = (end: Operation['end']): boolean => end !== 'open' && end !== 'dropped';
