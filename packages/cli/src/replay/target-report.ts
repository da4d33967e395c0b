import { given } from 'temporal-media/internal/domain/given';
import {
  type UnloadedTarget,
  type LoadedRun,
  type ReplayCode,
  type Timeline,
  type Verdict,
} from '@temporal-media/replay';
import { Replayer } from '@temporal-media/replay/internal/replay-histories';
import { type CommandContext } from '../context';
import { HistorySources, type NamedTarget, type TargetOptions } from './load-targets';
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

/** Loads and replays what is named, and keeps what the command shows of it. */
export class Reporter {
  readonly #sources: HistorySources;
  readonly #replayer: Replayer;

  constructor(private readonly request: ReplayRequest) {
    this.#sources = new HistorySources(request, request.options);
    this.#replayer = new Replayer(request.code);
  }

  /** What the arguments of the command name. */
  names(): AsyncGenerator<NamedTarget, undefined> {
    return this.#sources.names(this.request.targets);
  }

  async report(named: NamedTarget): Promise<TargetReport | UnloadedTarget> {
    const target = await this.#sources.load(named);
    if ('error' in target) return target;
    const runs: ReportedRun[] = [];
    for (const run of target.runs) {
      const verdict = await this.#replayer.verdictOf(run);
      const { history, ...rest } = run;
      runs.push({ ...rest, events: history.events?.length ?? 0, verdict });
    }
    return { target: target.target, runs, ...given({ timeline: storyOf(target, this.request) }) };
  }

  async close(): Promise<void> {
    await this.#replayer.close();
  }
}
