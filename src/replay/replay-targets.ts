import { type UnloadedTarget } from './history-folder';
import { type LoadedRun, type LoadedTarget } from './loaded-history';
import { type ReplayCode, replayHistories } from './replay-histories';
import { type Verdict } from './verdict';

/** A target with the verdict about each of its runs. */
export interface ReplayedTarget extends LoadedTarget {
  readonly verdicts: readonly Verdict[];
}

interface Open {
  readonly target: LoadedTarget | UnloadedTarget;
  readonly verdicts: Verdict[];
}

const isDone = ({ target, verdicts }: Open): boolean =>
  'error' in target || verdicts.length === target.runs.length;

/** Replays the runs of each target, in order, and passes on what could not be loaded. */
export async function* replayTargets(
  code: ReplayCode,
  targets: AsyncIterable<LoadedTarget | UnloadedTarget>,
): AsyncGenerator<ReplayedTarget | UnloadedTarget> {
  const open: Open[] = [];
  async function* runs(): AsyncGenerator<LoadedRun> {
    for await (const target of targets) {
      open.push({ target, verdicts: [] });
      if (!('error' in target)) yield* target.runs;
    }
  }
  const done = (): (ReplayedTarget | UnloadedTarget)[] => {
    const end = open.findIndex((one) => !isDone(one));
    return open
      .splice(0, end === -1 ? open.length : end)
      .map(({ target, verdicts }) => ('error' in target ? target : { ...target, verdicts }));
  };
  // Results come in the order of the runs.
  for await (const { verdict } of replayHistories(code, runs())) {
    open.find((one) => !isDone(one))?.verdicts.push(verdict);
    yield* done();
  }
  yield* done();
}
