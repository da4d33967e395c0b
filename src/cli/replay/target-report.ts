import { type UnloadedTarget } from '../../replay/history-folder';
import { type LoadedRun } from '../../replay/loaded-history';
import { type ReplayCode, type ReplayedTarget, replayTargets } from '../../replay/replay-histories';
import { type Timeline } from '../../replay/timeline/timeline';
import { type Verdict } from '../../replay/verdict';
import { type CommandContext } from '../context';
import { type HistorySources, type NamedTarget, type TargetOptions } from './load-targets';
import { storyOf, type StoryOptions } from './stories';

/** What a command says about one run; its history is let go. */
export interface ReportedRun extends Omit<LoadedRun, 'history'> {
  /** Number of events of its history. */
  readonly events: number;
  readonly verdict: Verdict;
}

/** What a command says about one target. */
export interface TargetReport {
  readonly target: string;
  readonly runs: readonly ReportedRun[];
  /** Absent where nobody has asked for it. */
  readonly timeline?: Timeline;
}

/** What a command replays, in values that another thread can be given. */
export interface ReplayRequest extends Pick<CommandContext, 'env'> {
  readonly code: ReplayCode;
  /** The arguments of the command. */
  readonly targets: readonly string[];
  readonly options: TargetOptions & StoryOptions;
}

/** Loads and replays what is named, one after the other, and keeps what the command shows of it. */
export async function* reportTargets(
  request: ReplayRequest,
  sources: HistorySources,
  names: AsyncIterable<NamedTarget>,
): AsyncGenerator<TargetReport | UnloadedTarget> {
  async function* loaded() {
    for await (const named of names) yield sources.load(named);
  }
  for await (const target of replayTargets(request.code, loaded()))
    yield 'error' in target ? target : reportOf(target, request);
}

function reportOf(replayed: ReplayedTarget, request: ReplayRequest): TargetReport {
  const runs = replayed.runs.flatMap(({ history, ...run }, index) => {
    const verdict = replayed.verdicts[index];
    return verdict === undefined ? [] : [{ ...run, events: history.events?.length ?? 0, verdict }];
  });
  const timeline = storyOf(replayed, request);
  return { target: replayed.target, runs, ...(timeline !== undefined && { timeline }) };
}
